import { expect, test } from 'vitest';

import { areaOf, lineOf } from './sparkline';

const draw = (x: number[], values: (number | null)[], range?: [number, number]) =>
  lineOf(x, values, areaOf(x, values, 106, 56, range));

test.each([
  ['rising', [0, 1], [0, 10], undefined, 'M3 53L103 3', [103, 3]],
  ['flat', [0, 1], [5, 5], undefined, 'M3 28L103 28', [103, 28]],
  ['with a gap', [0, 1, 2], [0, null, 10], undefined, 'M3 53M103 3', [103, 3]],
  ['of one point', [4], [5], undefined, 'M103 28', [103, 28]],
  ['in a wider range', [5, 10], [0, 10], [0, 10], 'M53 53L103 3', [103, 3]],
  ['newer than its range', [5, 12], [0, 10], [0, 10], 'M53 53L103 3', [103, 3]],
  ['of nothing', [], [], undefined, '', null],
] as const)('a curve %s', (_, x, values, range, path, end) => {
  expect(draw([...x], [...values], range && [...range])).toEqual({ path, end });
});
