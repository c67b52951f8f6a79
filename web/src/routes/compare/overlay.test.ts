import { describe, expect, test } from 'vitest';
import type { Run } from '$lib/api/types';

import {
  align,
  bandOf,
  curveOf,
  diffOf,
  hasSeeds,
  linesOf,
  looksOf,
  readingAt,
  saidOfRest,
  valueAt,
} from './overlay';

const curve = (x: number[], value: (number | null)[]) => ({ x, value, raw: [], low: [], high: [] });

test('a run keeps its colour, and those that share one differ by their strokes', () => {
  const runs = ['a', 'b', 'c', 'd'].map((id) => ({ id, name: id }) as Run);
  const looks = looksOf(linesOf(runs, (id) => `var(--series-${id === 'b' ? 2 : 1})`, false));
  expect([...looks.values()].map(({ color }) => color.at(-2))).toEqual(['1', '2', '1', '1']);
  const dashes = ['a', 'c', 'd'].map((id) => JSON.stringify(looks.get(id)?.dash));
  expect(new Set(dashes).size).toBe(3);
  expect([looks.get('a')?.dash, looks.get('b')?.dash]).toEqual([[], []]);
});

test('in tables a run looks as its line does, also where that is of several', () => {
  const run = (id: string, config_hash: string) => ({ id, name: id, config_hash }) as Run;
  const runs = [run('a', 'x'), run('b', 'x'), run('c', 'y')];
  const lines = linesOf(runs, () => 'var(--series-1)', true);
  const looks = looksOf(lines);
  expect(looks.get('b')).toEqual(looks.get('a'));
  expect(looks.get('c')?.dash).toEqual(lines[1]?.dash);
  expect(looks.get('c')?.dash).not.toEqual(looks.get('a')?.dash);
});

test('seeds of one group are one line', () => {
  const run = (id: string, config_hash: string | null, group: string | null = null) =>
    ({ id, group, config_hash, name: `Cart Pole, PPO, seed ${id}` }) as Run;
  const runs = [run('1', 'c'), run('2', 'c'), run('3', 'd'), run('4', null), run('5', null)];
  const colors = () => 'var(--series-4)';
  expect(linesOf(runs, colors, false).map(({ key }) => key)).toEqual(['1', '2', '3', '4', '5']);
  expect(linesOf(runs, colors, true)[0]).toEqual({
    key: 'c',
    name: 'Cart Pole, PPO',
    color: 'var(--series-4)',
    dash: [],
    ids: ['1', '2'],
  });
  expect(linesOf(runs, colors, true)).toHaveLength(4);
  expect(hasSeeds(runs)).toBe(true);
  expect(hasSeeds(runs.slice(1))).toBe(false);
  // Before its trainer has told its configuration, a run has its group.
  expect(hasSeeds([run('1', null, 'g'), run('2', null, 'g')])).toBe(true);
});

test('fifteen runs are three bands, and lines beyond ten are told of', () => {
  const runs = Array.from({ length: 15 }, (_, n) => {
    const config_hash = 'abc'.charAt(n / 5);
    return { id: `r-${n}`, name: `Cart Pole, seed ${n}`, config_hash } as Run;
  });
  const lines = (grouped: boolean) => linesOf(runs, () => 'var(--series-1)', grouped);
  expect(lines(true).map(({ ids }) => ids.length)).toEqual([5, 5, 5]);
  expect(saidOfRest(lines(true), false)).toBe('');
  expect(saidOfRest(lines(false), true)).toBe(
    'The first 10 of 15 lines are drawn, because more cannot be told apart. ' +
      'Left out of the charts: r-10; r-11; r-12; r-13 and 1 more. ' +
      'With seeds as one there are fewer lines.',
  );
  const [band] = lines(true);
  const many = Array.from({ length: 11 }, () => band as NonNullable<typeof band>);
  expect(saidOfRest(many, false)).toMatch(/Left out of the charts: Cart Pole \(5 runs\)[.]$/);
});

describe('curves', () => {
  test('between two points lies a straight line, and nothing beyond the ends', () => {
    const line = curve([0, 10, 20], [0, 100, null]);
    expect([-1, 0, 5, 10, 21].map((at) => valueAt(line, at))).toEqual([null, 0, 50, 100, null]);
  });

  test('the mean of two, with the least and the greatest', () => {
    const band = bandOf([curve([0, 10], [0, 10]), curve([0, 20], [20, 20])]);
    expect([band.x[0], band.x.at(-1)]).toEqual([0, 20]);
    expect([band.value[0], band.low[0], band.high[0]]).toEqual([10, 0, 20]);
    // Beyond the end of one, the other alone.
    expect(band.value.at(-1)).toBe(20);
  });

  test('on one axis, with gaps', () => {
    const { x, lines } = align([curve([0, 2], [1, 2]), curve([1], [5])]);
    expect(x).toEqual([0, 1, 2]);
    expect([lines[2], lines[5]]).toEqual([
      [1, null, 2],
      [null, 5, null],
    ]);
  });

  test('relative time counts from the own start', () => {
    const series = { key: 'k', label: 'k', step: [8, 16], t: [100, 130], value: [1, 2] };
    expect(curveOf(series, 'relative', 100, 0).x).toEqual([0, 30]);
    expect(curveOf(undefined, 'steps', 0, 0).x).toEqual([]);
  });

  test('what was measured lies behind a smoothed line, but not behind a band', () => {
    const series = { key: 'k', label: 'k', step: [0, 10], t: [0, 1], value: [1, 3] };
    expect(curveOf(series, 'steps', 0, 0).raw).toEqual([]);
    const smoothed = curveOf(series, 'steps', 0, 0.9);
    expect(smoothed.raw).toEqual([1, 3]);
    expect(align([smoothed, curve([5], [2])]).raw).toEqual([
      [1, null, 3],
      [null, null, null],
    ]);
    expect(bandOf([smoothed, smoothed]).raw).toEqual([]);
  });
});

test('settings that differ come first', () => {
  const rows = diffOf([
    [
      ['a', '1'],
      ['b', '2'],
    ],
    [['a', '1']],
  ]);
  expect(rows).toEqual([
    { path: 'b', values: ['2', '–'], differs: true },
    { path: 'a', values: ['1', '1'], differs: false },
  ]);
});

test('a crosshair reads the nearest point before it, and nothing of a line that ended long ago', () => {
  const x = [0, 10, 20, 30, 100];
  const line = [null, 1, null, 3, null];
  const read = (index: number, reach: number) => readingAt(x, line, index, reach);
  expect([0, 1, 2, 3].map((index) => read(index, 5))).toEqual([null, 1, 1, 3]);
  expect(read(4, 5)).toBeNull();
  expect(read(4, 70)).toBe(3);
  expect(readingAt(x, [null, null, null, null, null], 2, 5)).toBeNull();
});
