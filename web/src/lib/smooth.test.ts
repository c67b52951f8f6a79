import { expect, test } from 'vitest';

import { movingMean, smooth } from './smooth';

/** Points one part apart on a range of 250 parts, so that each step keeps `weight` of the mean. */
const parts = Array.from({ length: 251 }, (_, index) => 10 * index);

function check(values: (number | null)[], weight: number, expected: (number | null)[]) {
  const padded = [...values, ...parts.slice(values.length).map(() => null)];
  const found = smooth(parts, padded, weight);
  expect(found).toHaveLength(parts.length);
  expected.forEach((wanted, index) => {
    if (wanted === null) expect(found[index]).toBeNull();
    else expect(found[index]).toBeCloseTo(wanted, 12);
  });
}

test('no weight leaves the values', () => check([1, 2, 3], 0, [1, 2, 3]));
test('a constant stays constant from the first point on', () => check([5, 5, 5], 0.9, [5, 5, 5]));
// By hand with weight 1/2: (4/2 + 1) / (1/2 + 1), then (3/2 + 1) / (3/4 + 1).
test('three points by hand', () => check([4, 1, 1], 0.5, [4, 2, 2.5 / 1.75]));
test('gaps stay gaps and count as distance', () => {
  check([4, null, 1], 0.5, [4, null, 2 / 1.25]);
});
test('few points stand as they are', () => {
  const [, middle] = smooth([0, 50, 100], [0, 10, 20], 0.6);
  expect(middle).toBeCloseTo(10, 9);
});
test('points at one place are left alone', () => {
  expect(smooth([5, 5], [1, 2], 0.6)).toEqual([1, 2]);
});

test('a moving mean starts when its window is full', () => {
  expect(movingMean([1, 2, 3, 4], 2)).toEqual([null, 1.5, 2.5, 3.5]);
  expect(movingMean([1], 2)).toEqual([null]);
  expect(movingMean([1, null, 3, null, null], 2)).toEqual([null, 1, 3, 3, null]);
});
