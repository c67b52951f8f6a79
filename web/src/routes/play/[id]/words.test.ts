import { describe, expect, test } from 'vitest';
import type { Play } from '$lib/api/types';

import { resultOf, statusOf, toldOf } from './words';

const opponent = { name: 'connect4@1' } as Play['opponent'];
const moves = [
  { ply: 0, seat: 0, action: 3, name: 'column 4' },
  { ply: 1, seat: 1, action: 2, name: 'column 3' },
];
const play = { opponent, moves, seat: 0, ply: 2, turn: 'you', result: null, help: null } as const;

describe('a game in words', () => {
  test('how it stands', () => {
    expect(statusOf(play, null)).toBe('Your move');
    expect(statusOf({ ...play, turn: 'over', result: 'draw' }, null)).toBe('A draw');
    expect(statusOf(play, 0)).toBe('The start');
    expect(statusOf(play, 1)).toBe('After move 1 of 2');
  });

  test('what has just happened, there where one looks', () => {
    expect(toldOf(play, null, false)).toBe('connect4@1 played column 3');
    expect(toldOf(play, null, true)).toBe('Taken back');
    expect(toldOf(play, 1, true)).toBe('You played column 4');
    expect(toldOf(play, 0, false)).toBe('');
  });

  test('how it ended, with the help that was taken', () => {
    expect(resultOf({ opponent, result: 'loss', help: 'with 1 hint' })).toBe(
      'connect4@1 won, with 1 hint.',
    );
    expect(resultOf({ opponent, result: 'win', help: null })).toBe('You won.');
    expect(resultOf({ opponent, result: null, help: null })).toBe('');
  });
});
