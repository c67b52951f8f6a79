import { expect, test } from 'vitest';

import { ticks } from './ticks';

test.each([
  [-350, 300, 3, [-200, 0, 200]],
  [0, 500, 3, [0, 200, 400]],
  [0, 1, 3, [0, 0.5, 1]],
  [5, 5, 3, [5]],
])('ticks(%s, %s, %s)', (low, high, wanted, expected) =>
  expect(ticks(low, high, wanted)).toEqual(expected),
);
