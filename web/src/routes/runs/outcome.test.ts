import { describe, expect, test } from 'vitest';
import type { Run } from '$lib/api/types';

import { best, elo, eloBetween, extent, isMatch, share } from './outcome';

const train = { kind: 'train', step: 2048, total_timesteps: 10_000, best_eval: null } as Run;
const match = {
  kind: 'eval',
  of_run: null,
  episodes: 7,
  total_episodes: 20,
  match_result: { score: 0.59 },
} as Run;
const policy = {
  ...match,
  of_run: 'r-000000',
  match_result: null,
  best_eval: { mean: 500 },
} as unknown as Run;

describe('what a run shows', () => {
  test('how far it is', () => {
    expect(extent(train)).toEqual(['2,048', '10,000']);
    const told = { ...train, kind: 'external', total_timesteps: 0 } as Run;
    expect(extent(told)).toEqual(['2,048', '']);
    expect(extent({ ...told, total_timesteps: 12_000 })).toEqual(['2,048', '12,000']);
    expect(extent(match)).toEqual(['7', '20 games']);
    expect(extent(policy)).toEqual(['7', '20 episodes']);
  });

  test('its best result', () => {
    expect(best(match)).toBe('59.0%');
    expect(best(policy)).toContain('500');
    expect(share(1)).toBe('100.0%');
  });

  test('which evaluations are matches', () => {
    expect([train, match, policy].map(isMatch)).toEqual([false, true, false]);
  });

  test('Elo with and without a bound', () => {
    expect(elo(null)).toBe('no bound');
    expect(elo(-43.7)).toMatch(/44$/);
    expect(eloBetween([-80, 12.2])).toMatch(/80 to \+12$/);
    expect(eloBetween([166, null])).toBe('at least +166');
    expect(eloBetween([null, -166])).toMatch(/^at most .166$/);
    expect(eloBetween([null, null])).toBe('no bound');
  });
});
