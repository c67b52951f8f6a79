import { expect, test } from 'vitest';

import { readFolds, writeFolds } from './folds';

const atFirst = (name: string) => name === 'Training';

test('only what was folded or unfolded by hand is said', () => {
  expect(writeFolds({}, atFirst)).toBeNull();
  expect(writeFolds({ Training: true, Network: false }, atFirst)).toBeNull();
  expect(writeFolds({ Training: false, Network: true }, atFirst)).toBe('-Training,Network');
});

test('what is said is read again', () => {
  expect(readFolds('-Training,Self-play')).toEqual({ Training: false, 'Self-play': true });
  expect(readFolds(null)).toEqual({});
});
