import { expect, test } from 'vitest';

import { LOOK_MS, Silence } from './silence';

const MOST_MS = 10 * LOOK_MS;

/** One that is told the time by the test, and how often it was too long. */
function begin() {
  const looks = new Set<() => void>();
  let now = 1_000_000;
  let times = 0;
  const hours = {
    now: () => now,
    every: (_: number, call: () => void) => {
      looks.add(call);
      return () => looks.delete(call);
    },
  };
  const silence = new Silence(MOST_MS, () => (times += 1), hours);
  /** Time goes by, with a look every so often. */
  const pass = (ms: number) => {
    for (const end = now + ms; now < end;) {
      now += Math.min(LOOK_MS, end - now);
      for (const look of looks) look();
    }
  };
  /** Time goes by while timers stand still, and the next look comes after it. */
  const sleep = (ms: number) => {
    now += ms;
    for (const look of looks) look();
  };
  return { silence, pass, sleep, looks, times: () => times };
}

test('it is silent before anything is awaited', () => {
  const { pass, times } = begin();
  pass(10 * MOST_MS);
  expect(times()).toBe(0);
});

test('who is heard from in time is not missed', () => {
  const { silence, pass, times } = begin();
  for (let turn = 0; turn < 20; turn += 1) {
    silence.heard();
    pass(MOST_MS);
  }
  expect(times()).toBe(0);
});

test('who is not is missed once, and again when awaited again', () => {
  const { silence, pass, times } = begin();
  silence.heard();
  pass(MOST_MS + LOOK_MS);
  expect(times()).toBe(1);
  pass(10 * MOST_MS);
  expect(times()).toBe(1);
  silence.heard();
  pass(MOST_MS + LOOK_MS);
  expect(times()).toBe(2);
});

test('after a sleep it is noticed at the first look', () => {
  const { silence, sleep, times } = begin();
  silence.heard();
  sleep(MOST_MS + 1);
  expect(times()).toBe(1);
});

test('when nothing is awaited any more, nobody looks', () => {
  const { silence, pass, looks, times } = begin();
  silence.heard();
  silence.end();
  expect(looks.size).toBe(0);
  pass(10 * MOST_MS);
  expect(times()).toBe(0);
});
