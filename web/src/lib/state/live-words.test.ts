import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { LiveWords, PACE_MS } from './live-words.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('figures that tick are told now and then, the newest of them', () => {
  const words = new LiveWords();
  const heard = new Set<string>();
  for (let second = 0; second < 65; second += 1) {
    words.tell('running', `step ${second}`);
    vi.advanceTimersByTime(1000);
    heard.add(words.said);
  }
  expect([...heard]).toEqual(['', 'step 19', 'step 39', 'step 59']);
});

test('what turns is told at once, and the pace begins anew', () => {
  const words = new LiveWords();
  words.tell('running', 'step 1');
  words.tell('running', 'step 2');
  vi.advanceTimersByTime(1000);
  words.tell('paused', 'paused at 3');
  expect(words.said).toBe('paused at 3');
  words.tell('paused', 'paused at 4');
  vi.advanceTimersByTime(PACE_MS - 1);
  expect(words.said).toBe('paused at 3');
  vi.advanceTimersByTime(1);
  expect(words.said).toBe('paused at 4');
});

test('who leaves hears nothing more', () => {
  const words = new LiveWords();
  words.tell('running', 'step 1');
  words.tell('running', 'step 2');
  words.stop();
  vi.advanceTimersByTime(PACE_MS);
  expect(words.said).toBe('');
});
