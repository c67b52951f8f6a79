import { expect, test } from 'vitest';
import { Curve } from '$lib/replay/curve';

import { returnPath, rewardPath } from './paths';

function curveOf(...rewards: number[]): Curve {
  const curve = new Curve(rewards.length);
  rewards.forEach((reward) => curve.add(reward));
  return curve;
}

const same = (value: number) => value;

test('the return begins at nought', () => {
  expect(returnPath(curveOf(1, 2), same, same)).toBe('M0.0 0.0L1.0 1.0L2.0 3.0');
  expect(returnPath(curveOf(), same, same)).toBe('');
});

test('rewards stand on the line of nought, the largest of those that are close', () => {
  expect(rewardPath(curveOf(2, -1), same, 50, 600)).toBe('M1.0 50.0V36.0M2.0 50.0V57.0');
  expect(rewardPath(curveOf(1, -4, 1, 1), same, 50, 6)).toBe('M1.0 50.0V64.0M3.0 50.0V46.5');
  expect(rewardPath(curveOf(0, 0), same, 50, 600)).toBe('');
});
