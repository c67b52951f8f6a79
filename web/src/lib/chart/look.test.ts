import { expect, test } from 'vitest';

import { NUMBER_STEPS, labelEnd, logTicks, positive, xLabel, yLabel, yRange } from './look';

test('the y axis has room around the values, and no ground below zero without need', () => {
  expect(yRange(null, null, false)).toEqual([0, 1]);
  expect(yRange(0, 100, false)).toEqual([0, 108]);
  expect(yRange(500, 500, false)).toEqual([250, 750]);
  expect(yRange(1, 100, true)).toEqual([0.8, 125]);
});

test('an axis of what the machine has begins at zero', () => {
  expect(yRange(100, 200, false, true)).toEqual([0, 216]);
  expect(yRange(100, 100, false, true)).toEqual([0, 108]);
  expect(yRange(0, 0, false, true)).toEqual([0, 1]);
  expect(yRange(100, 200, true, true)).toEqual([80, 250]);
});

test('a logarithmic axis has few lines, at round places', () => {
  expect(logTicks(0.8, 125)).toEqual([1, 10, 100]);
  expect(logTicks(0.15, 0.6)).toEqual([0.2, 0.5]);
  expect(logTicks(8e-7, 120).map((at) => at.toExponential(0))).toEqual(['1e-6', '1e-3', '1e+0']);
  expect(logTicks(0, 1)).toEqual([]);
  expect(positive([1, 0, -2, null])).toEqual([1, null, null, null]);
});

test('words on the axes', () => {
  expect([0.00001, 0.25, 20_000].map(yLabel)).toEqual(['1e-5', '0.25', '20k']);
  expect(xLabel(200_000, 'steps', [0, 1])).toBe('200k');
  expect(xLabel(90, 'relative', [0, 1])).toBe('1 min 30 s');
});

test('no step between lines is more than twice the one before, so that no axis has but one', () => {
  const ratios = NUMBER_STEPS.slice(1).map((step, index) => step / (NUMBER_STEPS[index] ?? 0));
  expect(Math.max(...ratios)).toBeLessThan(2.001);
  expect(NUMBER_STEPS).toContain(0.25);
});

test('the last label of an x axis has room', () => {
  const CHARACTER = 6.1;
  const half = (text: string) => (text.length * CHARACTER) / 2;
  expect(labelEnd('steps')).toBeGreaterThanOrEqual(half(xLabel(12_500_000, 'steps', [0, 1])));
  expect(labelEnd('wall')).toBeGreaterThanOrEqual(half(xLabel(0, 'wall', [0, 100])));
  expect(labelEnd('relative')).toBeGreaterThanOrEqual(half(xLabel(5400, 'relative', [0, 1])));
});
