import { expect, test } from 'vitest';

import { zoomBy } from './zoom';

const FULL = [0, 100] as const;

test.each([
  ['+', FULL, [25, 75]],
  ['=', [20, 40], [25, 35]],
  ['+', [50, 50.01], null],
  ['-', [40, 60], [30, 70]],
  ['-', [0, 20], [0, 30]],
  ['-', [20, 80], 'all'],
  ['ArrowRight', [20, 40], [25, 45]],
  ['ArrowRight', [78, 98], [80, 100]],
  ['ArrowLeft', [2, 22], [0, 20]],
  ['ArrowLeft', FULL, null],
  ['0', [20, 40], 'all'],
  ['Escape', [20, 40], 'all'],
  ['g', [20, 40], null],
] as const)('%s on %s shows %s', (key, range, shown) =>
  expect(zoomBy(key, range, FULL)).toEqual(shown),
);
