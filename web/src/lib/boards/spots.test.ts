import { expect, test } from 'vitest';

import type { Spot } from '$lib/api/types';

import { neighbour, type Direction } from './spots';

const spot = (action: number, x: number, y: number): Spot => ({
  action,
  label: `${x},${y}`,
  x0: x - 0.5,
  y0: y - 0.5,
  x1: x + 0.5,
  y1: y + 0.5,
  pieces: [],
});

// 0 1 2
// 3 4 5
// 6 7 8
const grid = Array.from({ length: 9 }, (_, i) => spot(i, i % 3, 2 - Math.floor(i / 3)));

function check(spots: Spot[], path: Direction[], from: number, to: number) {
  expect(path.reduce((at, direction) => neighbour(spots, at, direction), from)).toBe(to);
}

test('right and down across a grid', () => check(grid, ['right', 'down'], 0, 4));
test('up and left back', () => check(grid, ['up', 'left'], 4, 0));
test('rows are kept', () => check(grid, ['right', 'right'], 3, 5));
test('the edge stops', () => check(grid, ['left', 'up'], 0, 0));
test('a row of columns has no up or down', () => {
  const columns = Array.from({ length: 7 }, (_, i) => spot(i, i, 0));
  check(columns, ['up', 'down', 'right'], 3, 4);
});
test('holes are jumped', () => check([spot(0, 0, 0), spot(1, 3, 0)], ['right'], 0, 1));
test('staggered rows lead to the nearest', () => {
  const staggered = [spot(0, 0, 1), spot(1, 1, 1), spot(2, 0.4, 0), spot(3, 1.4, 0)];
  check(staggered, ['down'], 0, 2);
  check(staggered, ['up'], 3, 1);
});
