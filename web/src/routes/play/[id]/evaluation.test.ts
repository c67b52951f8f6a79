import { expect, test } from 'vitest';

import { biggestSwing, plyOf } from './evaluation';

test('the biggest swing is found, whoever it was for', () => {
  expect(biggestSwing([0, 0, 1, 1, -1])).toEqual({ move: 4, change: -2 });
  expect(biggestSwing([0, 0.5, 0.1])).toEqual({ move: 1, change: 0.5 });
});
test('gaps are no swings', () => expect(biggestSwing([1, null, -1])).toBe(null));
test('little is nothing', () => expect(biggestSwing([0, 0.1, 0])).toBe(null));

function check(text: string | null, n_moves: number, expected: number | null) {
  expect(plyOf(text, n_moves)).toBe(expected);
}

test('a ply of the game', () => check('3', 9, 3));
test('the start', () => check('0', 9, 0));
test('the last is the game as it stands', () => check('9', 9, null));
test('nonsense is the game as it stands', () => check('-1', 9, null));
test('nothing is the game as it stands', () => check(null, 9, null));
