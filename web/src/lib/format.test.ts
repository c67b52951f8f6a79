import { expect, test } from 'vitest';

import {
  age,
  beat,
  bytes,
  clock,
  count,
  duration,
  measure,
  percent,
  short,
  signed,
} from './format';

test.each([
  [412_672, '412,672'],
  [999, '999'],
  [1_000_000.4, '1,000,000'],
  [-1234, '-1,234'],
  [0, '0'],
  [-0.2, '0'],
  [null, '–'],
  [undefined, '–'],
  [NaN, '–'],
])('count(%s) is %s', (value, text) => expect(count(value)).toBe(text));

test.each([
  [187.42, '+187.4'],
  [-0.06, '-0.1'],
  [0, '+0.0'],
  [-0.04, '+0.0'],
  [1234.5, '+1,234.5'],
  [null, '–'],
])('signed(%s) is %s', (value, text) => expect(signed(value)).toBe(text));

test.each([
  [0.0417, '0.0417'],
  [318.4, '318'],
  [0.0003, '0.000300'],
  [23_456.7, '23,457'],
  [0.0000012, '1.20e-6'],
  [-1.5, '-1.50'],
  [0, '0'],
  [null, '–'],
])('measure(%s) is %s', (value, text) => expect(measure(value)).toBe(text));

test.each([
  [184_310, '184k'],
  [1_250, '1.3k'],
  [1_000_000, '1M'],
  [12.34, '12.3'],
  [0, '0'],
  [null, '–'],
])('short(%s) is %s', (value, text) => expect(short(value)).toBe(text));

test.each([
  [0, '0%'],
  [0.418, '41%'],
  [0.9999, '99%'],
  [1, '100%'],
])('percent(%s) is %s', (value, text) => expect(percent(value)).toBe(text));

test.each([
  [0, '0 s'],
  [59.4, '59 s'],
  [192, '3 min 12 s'],
  [3600, '1 h'],
  [3660, '1 h 1 min'],
  [200_000, '2 d 7 h'],
  [null, '–'],
])('duration(%s) is %s', (value, text) => expect(duration(value)).toBe(text));

test.each([
  ['2025-01-01T00:00:00Z', '14 s'],
  ['2024-12-31T23:58:00Z', '2 min'],
  ['2024-12-31T20:00:00Z', '4 h'],
  ['2024-12-25T00:00:00Z', '7 d'],
  ['2025-01-01T01:00:00Z', '0 s'],
  [null, '–'],
])('age(%s) is %s', (from, text) =>
  expect(age(from, Date.parse('2025-01-01T00:00:14Z'))).toBe(text),
);

test('heartbeats have a decimal while they are young', () => {
  expect(beat(400)).toBe('0.4 s');
  expect(beat(12_000)).toBe('12 s');
  expect(beat(null)).toBe('–');
});

test('bytes have a unit', () => {
  expect(bytes(212_000_000)).toEqual(['212', 'MB']);
  expect(bytes(1_500)).toEqual(['1.5', 'kB']);
  expect(bytes(null)).toEqual(['–', '']);
});

test('clock times have two or three parts', () => {
  expect(clock(0)).toMatch(/^\d\d:\d\d$/);
  expect(clock(0, true)).toMatch(/^\d\d:\d\d:00$/);
});
