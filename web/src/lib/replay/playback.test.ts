import { expect, test } from 'vitest';

import { Playback, type Speed, asSpeed } from './playback.svelte';

function played(speed: Speed, last: number, isThere: (step: number) => boolean = () => true) {
  const playback = new Playback();
  playback.speed = speed;
  playback.play(last);
  const seen: number[] = [];
  for (let now = 0; now <= 1000 && playback.playing; now += 100) {
    playback.tick(now, last, 50, isThere);
    seen.push(playback.t);
  }
  return { playback, seen };
}

test('it keeps the own pace, or so many times it', () => {
  expect(played('1', 1000).seen).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]);
  expect(played('4', 1000).seen.at(-1)).toBe(200);
  expect(played('8', 1000).seen.at(-1)).toBe(400);
  expect(played('max', 1000).seen.slice(0, 4)).toEqual([0, 200, 400, 600]);
});

test('it stops at the end, and begins anew from there', () => {
  const { playback, seen } = played('8', 100);
  expect(seen.at(-1)).toBe(100);
  expect(playback.playing).toBe(false);
  playback.play(100);
  expect([playback.t, playback.playing]).toEqual([0, true]);
});

test('it waits for what is not there', () => {
  const { seen } = played('1', 1000, (step) => step < 20);
  expect(seen.at(-1)).toBe(15);
});

test('seeking stays within the episode', () => {
  const playback = new Playback();
  playback.seek(-3, 10);
  expect(playback.t).toBe(0);
  playback.seek(99, 10);
  expect(playback.t).toBe(10);
});

test('speeds of addresses', () => {
  expect(['4', 'max', '3', null].map(asSpeed)).toEqual(['4', 'max', '1', '1']);
});
