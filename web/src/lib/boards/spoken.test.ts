import { expect, test } from 'vitest';

import { spoken } from './spoken';

function check(label: string, pieces: number[], seat: number, expected: string) {
  expect(spoken({ label, pieces }, seat)).toBe(expected);
}

test('an empty square', () => check('top left', [], 0, 'top left, empty'));
test('a piece of yours', () => check('d4', [1], 1, 'd4, yours'));
test('a piece of theirs', () => check('d4', [1], 0, 'd4, theirs'));
test('a column is read from below', () =>
  check('column 4', [0, 1, 1], 0, 'column 4, from below: yours, theirs, theirs'));
test('passing is no square', () => check('pass', [], 0, 'pass'));
