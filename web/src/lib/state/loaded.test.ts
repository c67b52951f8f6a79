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

test('what follows is put behind what is there, unless that changed meanwhile', async () => {
  const loaded = new Loaded<string>();
  await loaded.more(async () => 'nothing to follow');
  expect(loaded.value).toBeNull();
  loaded.load('a', async () => '1');
  await loaded.again();
  await loaded.more(async (now) => `${now} 2`);
  expect(loaded.value).toBe('1 2');
  await loaded.more(() => Promise.reject(new Error('away')));
  expect([loaded.value, loaded.moreProblem?.detail]).toEqual(['1 2', 'away']);
  let answer: (text: string) => void = () => {};
  const late = loaded.more(() => new Promise((resolve) => (answer = resolve)));
  expect(loaded.moreProblem).toBeNull();
  await loaded.again();
  answer('1 2 3');
  await late;
  expect([loaded.value, loaded.loadingMore]).toEqual(['1', false]);
});
