import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Toasts } from './toasts.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const texts = (toasts: Toasts) => toasts.list.map(({ text }) => text);

test('a toast goes away after ten seconds', () => {
  const toasts = new Toasts();
  toasts.show('archived');
  vi.advanceTimersByTime(9_999);
  expect(texts(toasts)).toEqual(['archived']);
  vi.advanceTimersByTime(1);
  expect(texts(toasts)).toEqual([]);
});

test('a toast that is held stays, and goes ten seconds after it was let go', () => {
  const toasts = new Toasts();
  const id = toasts.show('archived');
  toasts.hold(id);
  vi.advanceTimersByTime(60_000);
  expect(texts(toasts)).toEqual(['archived']);
  toasts.release(id);
  vi.advanceTimersByTime(10_000);
  expect(texts(toasts)).toEqual([]);
});

test('undo happens once', async () => {
  const toasts = new Toasts();
  let undone = 0;
  const id = toasts.show('archived', { undo: () => (undone += 1) });
  expect(toasts.list[0]?.actions.map(({ label }) => label)).toEqual(['Undo']);
  await toasts.act(id);
  await toasts.act(id);
  expect(undone).toBe(1);
  expect(texts(toasts)).toEqual([]);
});

test('what can follow comes before what takes back', async () => {
  const toasts = new Toasts();
  const done: string[] = [];
  const id = toasts.show('queued', {
    undo: () => done.push('undone'),
    action: { label: 'Show', run: () => done.push('shown') },
  });
  expect(toasts.list[0]?.actions.map(({ label }) => label)).toEqual(['Show', 'Undo']);
  await toasts.act(id, 1);
  expect(done).toEqual(['undone']);
});

test('an undo that fails says so', async () => {
  const toasts = new Toasts();
  const id = toasts.show('archived', { undo: () => Promise.reject(new Error('too late')) });
  await toasts.act(id);
  expect(toasts.list).toMatchObject([{ text: 'too late', tone: 'warn' }]);
});

test('only the newest four are there', () => {
  const toasts = new Toasts();
  for (const text of ['a', 'b', 'c', 'd', 'e']) toasts.show(text);
  expect(texts(toasts)).toEqual(['b', 'c', 'd', 'e']);
});

test('what the lab gave no recipe for has no curl', () => {
  const toasts = new Toasts();
  toasts.show('paused', { answers: [{}] });
  expect(toasts.list[0]?.curl).toBe('');
});
