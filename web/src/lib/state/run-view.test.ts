import { expect, test } from 'vitest';
import type { Series } from '$lib/api/types';

import { stepsBetween } from './run-view.svelte';

test.each([
  [0, 99, [10, 40]],
  [21, 39, [30, 30]],
  [20, 30, [20, 30]],
  [35, 36, null],
  [41, 99, null],
  [0, 5, null],
])('between %s and %s s: %j', (low, high, expected) => {
  const line = (...t: number[]): Series => ({ key: 'k', label: 'k', step: t, t, value: t });
  const series = new Map([
    ['a', line(10, 20, 30)],
    ['b', line(20, 40)],
  ]);
  expect(stepsBetween(series, low, high)).toEqual(expected);
});
