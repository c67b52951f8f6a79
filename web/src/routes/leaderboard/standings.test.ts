import { expect, test } from 'vitest';

import type { LoggedMatch, RatingMoment } from '$lib/api/types';
import { points } from '$lib/arena/score';

import { crossTable, historyLines, isPairing, scaleOf } from './standings';

function match(a: string, b: string, wins: number, draws: number, losses: number) {
  const player = (key: string) => ({ key, name: key, sha256: null });
  return {
    id: 'r-1',
    a: player(a),
    b: player(b),
    wins,
    draws,
    losses,
  } as LoggedMatch;
}

const MATCHES = [match('x', 'y', 3, 1, 0), match('y', 'x', 2, 0, 2), match('x', 'z', 1, 0, 1)];

test('a cross table counts both ways round', () => {
  const table = crossTable(MATCHES, ['x', 'y', 'z']);
  expect(table[0]).toEqual([
    null,
    { wins: 5, draws: 1, losses: 2 },
    { wins: 1, draws: 0, losses: 1 },
  ]);
  expect(table[1]?.[0]).toEqual({ wins: 2, draws: 1, losses: 5 });
  expect(table[1]?.[2]).toBeNull();
});

test('a draw is half a win', () => {
  expect(points({ wins: 3, draws: 1, losses: 0 })).toBe(0.875);
});

test('a line has a point after each match of its player', () => {
  const side = (key: string, elo: number) => ({
    key,
    name: key,
    rating: elo - 1200,
    ci95: [elo - 1210, elo - 1190],
    elo,
    trueskill: { exposed: -elo },
  });
  const moments = [
    { a: side('x', 1201), b: side('y', 1199) },
    { a: side('z', 1202), b: side('y', 1198) },
  ] as RatingMoment[];
  expect(historyLines(moments, ['y', 'x', 'nobody'], 'elo')).toEqual([
    {
      key: 'y',
      name: 'y',
      points: [
        [1, 1199],
        [2, 1198],
      ],
      band: [],
    },
    { key: 'x', name: 'x', points: [[1, 1201]], band: [] },
  ]);
  expect(historyLines(moments, ['x'], 'trueskill')[0]?.points).toEqual([[1, -1201]]);
  expect(historyLines(moments, ['x'], 'rating')[0]).toMatchObject({
    points: [[1, 1]],
    band: [[-9, 11]],
  });
});

test.each([
  [
    [0, 100],
    [-4, 104],
  ],
  [
    [5, 5],
    [4.5, 5.5],
  ],
  [[], [0, 1]],
])('%j fit on %j', (values, scale) => {
  expect(scaleOf(values)).toEqual(scale);
});

test('pairings of a tournament are told from matches', () => {
  expect(isPairing({ ...match('x', 'y', 1, 0, 0), id: 'r-1/3' })).toBe(true);
  expect(isPairing(match('x', 'y', 1, 0, 0))).toBe(false);
});
