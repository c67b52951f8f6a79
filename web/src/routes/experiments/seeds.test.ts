import { expect, test } from 'vitest';

import { seedList, seedRange, seedTrouble } from './seeds';

test.each([
  ['42', '1', 'Seed 42'],
  ['1', '2', 'Seeds 1, 2, as a group'],
  ['1', '4', 'Seeds 1, 2, 3, 4, as a group'],
  ['1,000', '10', 'Seeds 1000, 1001, 1002, … 1009, as a group'],
])('from %s, %s of them', (first, count, text) => {
  expect(seedTrouble(first, count)).toBeUndefined();
  expect(seedList(first, count)).toBe(text);
});

test.each([
  ['42', '0', '1 to 100 runs at once.'],
  ['42', '101', '1 to 100 runs at once.'],
  ['-1', '2', 'A seed is a whole number from 0.'],
  ['1e400', '2', 'A seed is a whole number from 0.'],
])('from %s, %s of them is wrong', (first, count, trouble) => {
  expect(seedTrouble(first, count)).toBe(trouble);
});

test('as the lab takes them', () => {
  expect(seedRange('1_000', '5')).toEqual({ seed_base: 1000, count: 5 });
});
