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

test('what follows is put behind what is there', async () => {
  const loaded = new Loaded<string>();
  await loaded.more(async () => 'nothing to follow');
  expect(loaded.value).toBeNull();
  loaded.load('a', async () => '1');
  await loaded.again();
  await loaded.more(async (now) => `${now} 2`);
  expect(loaded.value).toBe('1 2');
  await loaded.more(() => Promise.reject(new Error('away')));
  expect([loaded.value, loaded.moreProblem?.detail]).toEqual(['1 2', 'away']);
});

test('what follows is asked for again where the answer came anew, and not of another list', async () => {
  const loaded = new Loaded<string>();
  loaded.load('a', async () => '1');
  await loaded.again();
  const answers: ((text: string) => void)[] = [];
  const ask = (now: string) =>
    new Promise<string>((resolve) => answers.push((t) => resolve(now + t)));
  const late = loaded.more(ask);
  loaded.load('a', async () => 'one');
  await loaded.again();
  answers[0]?.(' 2');
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.(' 2');
  await late;
  expect([loaded.value, loaded.loadingMore]).toEqual(['one 2', false]);
  const tooLate = loaded.more(ask);
  loaded.load('b', async () => 'other');
  await loaded.again();
  answers[2]?.(' 3');
  await tooLate;
  expect([loaded.value, loaded.loadingMore, answers.length]).toEqual(['other', false, 3]);
});
