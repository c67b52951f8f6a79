import { expect, test } from 'vitest';

import type { Bucket } from '$lib/api/types';

import { tally, told, verdict } from './buckets';

const bucket = (...scores: number[]): Bucket => ({ seed: 1, opening: [], scores, returns: null });

test.each([
  [[1, 1], 'won'],
  [[1, -1], 'even'],
  [[0, 1], 'won'],
  [[-1, 0], 'lost'],
  [[0], 'even'],
] as const)('%j is %s', (scores, expected) => {
  expect(verdict(bucket(...scores))).toBe(expected);
});

test('buckets are counted by what they say', () => {
  expect(tally([bucket(1, 1), bucket(1, -1), bucket(1, 0)])).toEqual({ won: 2, even: 1, lost: 0 });
  expect(told(bucket(1, -1, 0))).toBe('won, lost, drawn');
});
