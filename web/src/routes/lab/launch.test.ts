import { expect, test } from 'vitest';

import { templateOf } from './launch';

const WANTED = {
  envId: 'CartPole-v1',
  envName: 'Cart Pole',
  algorithm: 'ppo',
  learning_rate: 0.0003,
  total_timesteps: 10_000,
  seed: 1,
  preset: 'fast',
  settings: { 'trainer.gamma': 0.97 },
};

test('the same settings make the same template, whatever the seed', () => {
  const template = templateOf(WANTED);
  expect(template.name).toBe('Lab: Cart Pole, PPO, fast');
  expect(template.description).toBe(
    'From the lab page: trainer.gamma=0.97, trainer.learning_rate=0.0003, trainer.total_timesteps=10000',
  );
  expect(templateOf({ ...WANTED, seed: 2 })).toEqual(template);
  expect(template.config).toMatchObject({ env_id: 'CartPole-v1', 'trainer.gamma': 0.97 });
});
