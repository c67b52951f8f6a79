import { expect, test } from 'vitest';

import type { Environment, Evaluation } from './api/types';
import { spokenFrame, spokenRun } from './spoken-run';

const RUN = {
  state: 'running',
  kind: 'train',
  algorithm: 'ppo',
  step: 412_672,
  total_timesteps: 1_000_000,
  episodes: 900,
  total_episodes: null,
  mean_reward: 22.44,
  latest_eval: null,
} as const;

function check(more: Partial<Parameters<typeof spokenRun>[0]>, expected: string) {
  expect(spokenRun({ ...RUN, ...more })).toBe(expected);
}

test('state, how far and how well, in sentences', () => {
  check({}, 'Running. Step 412,672 of 1,000,000. Mean return +22.4.');
  check({ state: 'queued', step: 0, mean_reward: null }, 'Queued.');
  check({ kind: 'external', total_timesteps: 0 }, 'Running. Step 412,672. Mean return +22.4.');
  expect(spokenRun(RUN, true)).toContain('Running. These figures are old.');
});

test('an evaluation by its episodes, self-play by its rating', () => {
  const latest_eval = { mean: 500, metrics: { elo: 612 } } as unknown as Evaluation;
  const test = { kind: 'eval', episodes: 3, total_episodes: 10 } as const;
  check({ ...test, latest_eval }, 'Running. 3 of 10 episodes. Mean +500.0.');
  check({ algorithm: 'alphazero', latest_eval }, 'Running. Step 412,672 of 1,000,000. Rating 612.');
});

test('a picture with what is seen and done, unless that is too much', () => {
  const env = {
    action_space_type: 'discrete',
    action_names: ['push left', 'push right'],
    observation_names: ['position', 'speed'],
  } as unknown as Environment;
  const moment = { step: 12, reward: 12, action: 1, observation: [0.5, -1] };
  const said = 'Step 12. Reward +12.0. Action: push right.';
  expect(spokenFrame(moment, env, 8)).toBe(`${said} position +0.50, speed -1.00.`);
  expect(spokenFrame(moment, env, 1)).toBe(said);
  expect(spokenFrame({ ...moment, observation: [] }, env, 8)).toBe(said);
});
