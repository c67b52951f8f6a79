import { expect, test } from 'vitest';

import { runColor } from '$lib/run-color';

import { playerLooks } from './colors';

const colorOf = (keys: string[], key: string) => playerLooks(keys).get(key)?.color;

test('ten players have ten colours without gaps, and the first the one of its name', () => {
  const keys = Array.from({ length: 10 }, (_, index) => `builtin:mcts:${index}`);
  const looks = [...playerLooks(keys).values()];
  expect(new Set(looks.map(({ color }) => color)).size).toBe(10);
  expect(looks.every(({ dash }) => dash.length === 0)).toBe(true);
  expect(colorOf(keys, 'builtin:mcts:0')).toBe(runColor('builtin:mcts:0'));
});

test('a checkpoint has the colour of its run, and another of the same run other strokes', () => {
  const [early, late] = ['run:r-7f3k2m@step_000100000', 'run:r-7f3k2m@step_000200000'];
  // Whoever else is there gives way.
  const others = Array.from({ length: 9 }, (_, index) => `builtin:mcts:${index}`);
  const looks = playerLooks([...others, early, late]);
  expect(looks.get(early)?.color).toBe(runColor('r-7f3k2m'));
  expect(looks.get(late)?.color).toBe(runColor('r-7f3k2m'));
  expect(looks.get(late)?.dash).not.toEqual(looks.get(early)?.dash);
  expect(others.some((key) => looks.get(key)?.color === runColor('r-7f3k2m'))).toBe(false);
});

test('more than ten have looks too, and no two the same', () => {
  const looks = playerLooks(Array.from({ length: 25 }, (_, index) => `p${index}`));
  expect(new Set([...looks.values()].map((look) => JSON.stringify(look))).size).toBe(25);
});
