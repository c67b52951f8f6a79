import { expect, test } from 'vitest';
import type { XrayStep } from '$lib/api/types';

import { endOf, tellerOf } from './self-play';

test('only what was searched is called a search', () => {
  const told = (searched: boolean, recalled: boolean) =>
    tellerOf({ searched } as XrayStep, recalled);
  expect(told(true, true)).toBe('search');
  expect(told(false, true)).toBe('chance');
  expect(told(false, false)).toBe('network');
});

test.each([
  [1, false, 'The first player won.'],
  [-1, false, 'The second player won.'],
  [-1, true, 'The second player won: the first gave up, or a search had proven the end.'],
  [0, false, 'Drawn.'],
])('a reward of %i, given up: %s', (reward, truncated, words) => {
  expect(endOf({ reward, truncated })).toBe(words);
});
