import { expect, test } from 'vitest';

import { isSchedule, numberOf } from './schedule';

test.each([
  ['lin_0.001', true, '0.001'],
  [' cos_3e-3', true, '3e-3'],
  ['cycle_', true, ''],
  ['0.001', false, '0.001'],
  ['exp_1', false, 'exp_1'],
])('%s', (text, expected, number) => {
  expect(isSchedule(text)).toBe(expected);
  expect(numberOf(text)).toBe(number);
});
