import { expect, test } from 'vitest';

import { pace } from './record';

test('frames come at the own speed, at most 25 a second', () => {
  expect(pace(0, 99, 50)).toEqual({ every: 2, frames: 50, delay: 4, seconds: 2 });
  expect(pace(10, 39, 15)).toEqual({ every: 1, frames: 30, delay: 7, seconds: 2.1 });
  expect(pace(5, 5, 50).frames).toBe(1);
});
