import { expect, test } from 'vitest';

import { bodyOf } from './launch';

const NUMBERS = { algorithm: 'ppo', learning_rate: 0.0003, total_timesteps: 10_000, seed: 1 };

test('only what was chosen is asked for', () => {
  const plain = { ...NUMBERS, envId: 'CartPole-v1', preset: null, settings: {} };
  expect(bodyOf(plain)).toEqual({ env_id: 'CartPole-v1', ...NUMBERS });
  expect(bodyOf({ ...plain, preset: 'fast', settings: { 'trainer.gamma': 0.97 } })).toEqual({
    env_id: 'CartPole-v1',
    ...NUMBERS,
    preset: 'fast',
    overrides: { 'trainer.gamma': 0.97 },
  });
  expect(bodyOf({ ...plain, learning_rate: 'lin_0.001' })).toEqual({
    env_id: 'CartPole-v1',
    ...NUMBERS,
    learning_rate: null,
    overrides: { 'trainer.learning_rate': 'lin_0.001' },
  });
});
