import { expect, test } from 'vitest';

import { Loaded } from './loaded.svelte';

test('a late answer to an earlier question is dropped', async () => {
  const loaded = new Loaded<string>();
  let answerFirst: (text: string) => void = () => {};
  loaded.load('first', () => new Promise((resolve) => (answerFirst = resolve)));
  loaded.load('second', async () => 'second');
  await Promise.resolve();
  await Promise.resolve();
  answerFirst('first');
  await Promise.resolve();
  await Promise.resolve();
  expect(loaded.value).toBe('second');
});

test('the same question keeps its answer, another one does not', async () => {
  const loaded = new Loaded<string>();
  loaded.load('a', async () => 'a');
  await loaded.again();
  loaded.load('a', () => Promise.reject(new Error('away')));
  await loaded.again();
  expect(loaded.value).toBe('a');
  expect(loaded.problem?.detail).toBe('away');
  loaded.load('b', () => new Promise(() => {}));
  expect(loaded.value).toBeNull();
  expect(loaded.problem).toBeNull();
});
