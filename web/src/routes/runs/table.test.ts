import { describe, expect, test } from 'vitest';
import type { Run } from '$lib/api/types';

import { type Arrangement, arrange, lastStep, runsOf, windowOf, withoutSeed } from './table';

const run = (id: string, more: Partial<Run> = {}) =>
  ({
    id,
    kind: 'train',
    name: `Cart Pole, PPO, seed ${id}`,
    env_id: 'CartPole-v1',
    algorithm: 'ppo',
    state: 'succeeded',
    created_at: `2026-01-0${id}`,
    step: Number(id) * 100,
    mean_reward: null,
    latest_eval: null,
    group: null,
    experiment_id: null,
    heartbeat_age_ms: null,
    stepped_at: null,
    pinned: false,
    ...more,
  }) as unknown as Run;

const PLAIN: Arrangement = {
  text: '',
  state: '',
  kind: '',
  sort: 'created',
  descending: true,
  grouped: false,
  folded: new Set(),
};
const RUNS = [
  run('1', {
    mean_reward: 20,
    group: 'g-1',
    experiment_id: 'e-2',
    stepped_at: '2026-01-01T10:00:00.000Z',
  }),
  run('2', {
    mean_reward: 40,
    group: 'g-1',
    experiment_id: 'e-1',
    state: 'running',
    heartbeat_age_ms: 900,
    stepped_at: '2026-01-02T10:00:00.000Z',
  }),
  run('3', { name: 'Pendulum, PPO, seed 3', env_id: 'Pendulum-v1', state: 'lost' }),
];

function check(how: Partial<Arrangement>, expected: string[]) {
  const rows = arrange(RUNS, { ...PLAIN, ...how });
  expect(
    rows.map(({ run: one, group }) => one?.id ?? `${group?.title}: ${group?.runs.length}`),
  ).toEqual(expected);
}

describe('the rows', () => {
  test('newest first, or in any other order, nothing last', () => {
    check({}, ['3', '2', '1']);
    check({ sort: 'return' }, ['2', '1', '3']);
    check({ sort: 'return', descending: false }, ['1', '2', '3']);
    // Only of what is at work is there a sign of life to wait for.
    check({ sort: 'beat' }, ['2', '3', '1']);
    check({ sort: 'experiment', descending: false }, ['2', '1', '3']);
    check({ sort: 'experiment' }, ['1', '2', '3']);
    check({ sort: 'seen' }, ['2', '1', '3']);
    check({ sort: 'seen', descending: false }, ['1', '2', '3']);
  });

  test('by words and states', () => {
    check({ text: 'cart run' }, ['2']);
    check({ state: 'active' }, ['2']);
    check({ state: 'lost' }, ['3']);
    check({ kind: 'eval' }, []);
  });

  test('groups of one title say what tells them apart', () => {
    const of = (hash: string, total_timesteps: number) => ({ config_hash: hash, total_timesteps });
    const titles = (...runs: Run[]) =>
      arrange(runs, { ...PLAIN, grouped: true }).flatMap(({ group }) => group?.title ?? []);
    expect(titles(run('1', of('abcdef01', 2000)), run('2', of('123456ff', 5000)))).toEqual([
      'Cart Pole, PPO, 5k steps',
      'Cart Pole, PPO, 2k steps',
    ]);
    expect(titles(run('1', of('abcdef01', 2000)), run('2', of('123456ff', 2000)))).toEqual([
      'Cart Pole, PPO, 123456',
      'Cart Pole, PPO, abcdef',
    ]);
  });

  test('in groups of one configuration', () => {
    check({ grouped: true }, ['Pendulum-v1 / ppo: 1', '3', 'Cart Pole, PPO: 2', '2', '1']);
    check({ grouped: true, folded: new Set(['g-1']) }, [
      'Pendulum-v1 / ppo: 1',
      '3',
      'Cart Pole, PPO: 2',
    ]);
    for (const folded of [new Set<string>(), new Set(['g-1'])]) {
      const runs = runsOf(arrange(RUNS, { ...PLAIN, grouped: true, folded }));
      expect(runs.map(({ id }) => id).sort()).toEqual(['1', '2', '3']);
    }
    const [, , row] = arrange(RUNS, { ...PLAIN, grouped: true });
    expect(row?.group).toMatchObject({ mean: 30, spread: 10, active: 1 });
  });

  test('pinned ones on top', () => {
    const rows = arrange([...RUNS, run('0', { pinned: true })], PLAIN);
    expect(rows[0]?.run?.id).toBe('0');
  });
});

test('only what is on screen is drawn', () => {
  expect(windowOf(10_000, 40, 0, 800)).toEqual({ from: 0, to: 28 });
  expect(windowOf(10_000, 40, 4000, 800)).toEqual({ from: 92, to: 128 });
  expect(windowOf(5, 40, 4000, 800)).toEqual({ from: 5, to: 5 });
});

test('a name without its seed', () => {
  expect(withoutSeed('Cart Pole, PPO, seed 42')).toBe('Cart Pole, PPO');
});

test('how long ago the last step was', () => {
  const now = Date.parse('2026-01-02T10:00:03.500Z');
  const said = RUNS.map((one) => lastStep(one, now));
  expect(said).toEqual(['24 h ago', '3 s ago', '–']);
});
