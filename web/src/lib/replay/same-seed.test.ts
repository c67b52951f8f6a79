import { expect, test } from 'vitest';

import { parseOther } from './same-seed';

test('the other episode in an address', () => {
  expect(parseOther('r-7f3k2m/12')).toEqual({ run: 'r-7f3k2m', episode: 12 });
  expect(['r-7f3k2m', 'r/1/2', '', null].map(parseOther)).toEqual([null, null, null, null]);
});
