import { expect, test } from 'vitest';

import { Curve, roundTicks } from './curve';

function curveOf(rewards: (number | null)[], most?: number): Curve {
  const curve = new Curve(rewards.length, most);
  rewards.forEach((reward) => curve.add(reward));
  return curve;
}

test('a short episode is kept step by step', () => {
  const curve = curveOf([1, -2, null, 4]);
  expect(curve.total).toEqual([1, -1, -1, 3]);
  expect([0, 1, 2, 3, 4, 5].map((step) => curve.soFar(step))).toEqual([0, 1, -1, -1, 3, null]);
  expect(curve.span).toEqual([-1, 3]);
  expect(curve.peak).toBe(4);
});

test('a long episode is kept in stretches, with its extremes', () => {
  const rewards = Array.from({ length: 100_000 }, (_, i) => (i === 77_777 ? 50 : 1));
  const curve = curveOf(rewards, 1000);
  expect(curve.total.length).toBe(1000);
  expect(curve.total.at(-1)).toBe(100_049);
  expect(curve.high[777]).toBe(50);
  expect(curve.low[777]).toBe(1);
  // Within a stretch the steps themselves say it; without them the stretch does.
  expect(curve.soFar(150, () => 1)).toBe(150);
  expect(curve.soFar(150)).toBe(200);
  expect(curve.soFar(100_000)).toBe(100_049);
});

test('a curve that the lab has drawn', () => {
  const drawn = {
    n_steps: 5,
    step: [2, 4, 5],
    total: [2, 1, 3],
    low: [1, -2, null],
    high: [1, 1, 2],
  };
  const curve = Curve.of({ run_id: 'r-1', episode: 1, ...drawn });
  expect([2, 4, 5].map((step) => curve.soFar(step))).toEqual([2, 1, 3]);
  expect([curve.stepOf(0), curve.stepOf(2), curve.peak]).toEqual([2, 5, 2]);
});

test('what has not arrived is not known', () => {
  const curve = new Curve(10);
  curve.add(2);
  expect(curve.soFar(1)).toBe(2);
  expect(curve.soFar(2)).toBeNull();
  expect(curve.stepOf(0)).toBe(1);
});

test('ticks are round', () => {
  expect(roundTicks(0, 318, 6)).toEqual([0, 100, 200, 300]);
  expect(roundTicks(-120, 40)).toEqual([-100, 0]);
  expect(roundTicks(0, 0.7)).toEqual([0, 0.5]);
  expect(roundTicks(5, 5)).toEqual([5]);
});
