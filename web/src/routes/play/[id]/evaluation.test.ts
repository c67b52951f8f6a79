import { expect, test } from 'vitest';

import { biggestSwing, ofMistake, ofSwing, plyOf, toldOf } from './evaluation';

test('the biggest swing is found, whoever it was for', () => {
  expect(biggestSwing([0, 0, 1, 1, -1])).toEqual({ move: 4, change: -2 });
  expect(biggestSwing([0, 0.5, 0.1])).toEqual({ move: 1, change: 0.5 });
});
test('gaps are no swings', () => expect(biggestSwing([1, null, -1])).toBe(null));
test('little is nothing', () => expect(biggestSwing([0, 0.1, 0])).toBe(null));

test('a swing is told for you, and stands at the position before it', () => {
  const turned = ofSwing(biggestSwing([0, 0.5, 0.1]));
  expect(turned).toMatchObject({ before: 0, isYours: null });
  expect(turned && toldOf(turned)).toBe('Biggest swing: move 1, +0.50 for you');
  expect(ofSwing(null)).toBe(null);
});
test('a mistake is told with what was played and what was best', () => {
  const [played, best] = [
    { action: 2, name: '3' },
    { action: 4, name: '5' },
  ];
  const values = { value_before: 0.25, value_after: -0.5 };
  const turned = ofMistake({ ply: 11, seat: 1, is_yours: false, played, best, ...values });
  expect(turned).toMatchObject({ before: 11, change: -0.75 });
  expect(turned && toldOf(turned)).toBe(
    'Biggest mistake: move 12, theirs: 3 cost 0.75, best was 5',
  );
  expect(ofMistake(null)).toBe(null);
});

function check(text: string | null, n_moves: number, expected: number | null) {
  expect(plyOf(text, n_moves)).toBe(expected);
}

test('a ply of the game', () => check('3', 9, 3));
test('the start', () => check('0', 9, 0));
test('the last is the game as it stands', () => check('9', 9, null));
test('nonsense is the game as it stands', () => check('-1', 9, null));
test('nothing is the game as it stands', () => check(null, 9, null));
