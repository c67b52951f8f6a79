import { expect, test } from 'vitest';

import { spoken, spokenBoard } from './spoken';

function check(label: string, pieces: number[], seat: number, expected: string) {
  expect(spoken({ label, pieces }, seat)).toBe(expected);
}

test('an empty square', () => check('top left', [], 0, 'top left, empty'));
test('a piece of yours', () => check('d4', [1], 1, 'd4, yours'));
test('a piece of theirs', () => check('d4', [1], 0, 'd4, theirs'));
test('a column is read from below', () =>
  check('column 4', [0, 1, 1], 0, 'column 4, from below: yours, theirs, theirs'));
test('passing is no square', () => check('pass', [], 0, 'pass'));

test('a board that is only looked at is told by its pieces', () => {
  const names = ['column 1', 'column 2', 'pass'];
  const said = (...pieces: number[][]) => spokenBoard(pieces, names);
  expect(said([], [], [])).toBe('The board is empty.');
  expect(said([], [0, 1], [])).toBe(
    "On the board: column 2, from below: first player's, second player's. All else is empty.",
  );
  expect(said([1], [0], [])).toBe(
    "On the board: column 1, second player's; column 2, first player's. All else is empty.",
  );
  expect(spokenBoard(undefined, names)).toBe('');
});
