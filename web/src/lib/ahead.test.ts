import { readdir } from 'node:fs/promises';

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { EVERY_PAGE, SIGNS, whenThere } from './ahead';

vi.mock('$app/navigation', () => ({ preloadCode: () => Promise.resolve() }));

test('every route is loaded ahead', async () => {
  const files = await readdir('src/routes', { recursive: true });
  const routes = files
    .filter((file) => file.endsWith('+page.svelte'))
    .map((file) =>
      file
        .replace('+page.svelte', '')
        .replace(/\([^)]*\)\//, '')
        .replace(/\/$/, ''),
    );
  const patterns = routes.map((route) => new RegExp(`^/${route.replaceAll(/\[\w+\]/g, '[^/]+')}$`));
  const missed = routes.filter(
    (_, index) => !EVERY_PAGE.some((page) => patterns[index]?.test(page)),
  );
  expect(missed).toEqual([]);
});

describe('it begins', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const waiting = () => {
    const target = new EventTarget();
    const begin = vi.fn();
    return { target, begin, stop: whenThere(target, begin) };
  };

  test.each(SIGNS)('once, soon after the first %s', (sign) => {
    const { target, begin } = waiting();
    vi.advanceTimersByTime(10_000);
    expect(begin).not.toHaveBeenCalled();
    target.dispatchEvent(new Event(sign));
    expect(begin, 'what was pressed goes first').not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
    target.dispatchEvent(new Event(sign));
    vi.advanceTimersByTime(500);
    expect(begin).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100_000);
    expect(begin).toHaveBeenCalledTimes(1);
  });

  test('without a sign, after half a minute', () => {
    const { target, begin } = waiting();
    target.dispatchEvent(new Event('scroll'));
    vi.advanceTimersByTime(29_000);
    expect(begin).not.toHaveBeenCalled();
    vi.advanceTimersByTime(3_000);
    expect(begin).toHaveBeenCalledTimes(1);
  });

  test('not where one has left', () => {
    const { target, begin, stop } = waiting();
    target.dispatchEvent(new Event('keydown'));
    stop();
    target.dispatchEvent(new Event('keydown'));
    vi.advanceTimersByTime(100_000);
    expect(begin).not.toHaveBeenCalled();
  });
});
