import { expect, test } from 'vitest';

import { readTyped, writeTyped } from './typed';

test.each([
  [null, {}],
  ['seed=7;trainer.gamma=0.95', { seed: '7', 'trainer.gamma': '0.95' }],
  ['trainer.hidden=[64, 64];a=b=c', { 'trainer.hidden': '[64, 64]', a: 'b=c' }],
])('an address and back: %s', (text, typed) => {
  expect(readTyped(text)).toEqual(typed);
  expect(writeTyped(typed)).toBe(text);
});

test('nonsense in an address is left out', () => {
  expect(readTyped(';=3;seed')).toEqual({});
});
