import { expect, test } from 'vitest';

import { runColor } from '$lib/run-color';

import { playerColors } from './colors';

test('ten players have ten colours, and the first the one of its name', () => {
  const keys = Array.from({ length: 10 }, (_, index) => `builtin:mcts:${index}`);
  const colors = playerColors(keys);
  expect(new Set(colors.values()).size).toBe(10);
  expect(colors.get('builtin:mcts:0')).toBe(runColor('builtin:mcts:0'));
});

test('more than ten have colours too', () => {
  expect(playerColors(Array.from({ length: 25 }, (_, index) => `p${index}`)).size).toBe(25);
});
