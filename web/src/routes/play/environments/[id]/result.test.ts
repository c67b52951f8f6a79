import { expect, test } from 'vitest';
import type { Environment } from '$lib/api/types';

import { compared, ending, parseSeed } from './result';

const env = {
  max_steps: 500,
  threshold: 475,
  controls: { idle: 'zero', keys: [], ending: 'the pole fell' },
} as unknown as Environment;
const end = (total_reward: number, terminated: boolean, truncated = !terminated) => ({
  total_reward,
  terminated,
  truncated,
});

test('an end is said in words', () => {
  expect(ending(end(1, true), env)).toBe('The pole fell');
  expect(ending(end(1, false), env)).toBe('The time limit of 500 steps');
  expect(ending(end(1, false, false), env)).toBe('Given up');
  expect(ending(end(1, true), { ...env, controls: null })).toBe('The task has ended');
});

test('a return is held beside the threshold', () => {
  expect(compared(end(34, true), env)).toBe('441 below the threshold of 475.');
  expect(compared(end(475, true), env)).toBe('The threshold of 475 is reached.');
  expect(compared(end(-120.25, true), { ...env, threshold: -110 })).toBe(
    '10.3 below the threshold of -110.',
  );
  expect(compared(end(1, true), { ...env, threshold: null })).toBe('It has no threshold.');
});

test('seeds are whole numbers or nothing', () => {
  expect(['', ' ', '7', ' 42 '].map(parseSeed)).toEqual([null, null, 7, 42]);
  expect(['-1', '1.5', 'x', '1e3', '99999999999999999999'].map(parseSeed)).toEqual(
    Array(5).fill(undefined),
  );
});
