import { expect, test } from 'vitest';

import { OneByOne } from './one-by-one';

/** What was taken in each task. */
function begin(take: (it: number) => void = () => {}) {
  const tasks: (() => void)[] = [];
  const taken: number[] = [];
  const box = new OneByOne<number>(
    (it) => {
      taken.push(it);
      take(it);
    },
    (then) => tasks.push(then),
  );
  return { box, tasks, taken };
}

test('one in each task, in their order', () => {
  const { box, tasks, taken } = begin();
  for (const it of [1, 2, 3]) box.put(it);
  expect([taken, tasks.length]).toEqual([[], 1]);
  tasks.shift()?.();
  expect([taken, tasks.length]).toEqual([[1], 1]);
  box.put(4);
  while (tasks.length > 0) tasks.shift()?.();
  expect(taken).toEqual([1, 2, 3, 4]);
});

test('one that fails keeps nothing from the others', () => {
  const { box, tasks, taken } = begin((it) => {
    if (it === 1) throw new Error('odd');
  });
  for (const it of [1, 2]) box.put(it);
  expect(() => tasks.shift()?.()).toThrow('odd');
  tasks.shift()?.();
  expect(taken).toEqual([1, 2]);
});

test('what was forgotten is not taken', () => {
  const { box, tasks, taken } = begin();
  for (const it of [1, 2]) box.put(it);
  box.clear();
  box.put(3);
  while (tasks.length > 0) tasks.shift()?.();
  expect(taken).toEqual([3]);
});

test('by itself it is soon', async () => {
  const taken = await new Promise((done) => new OneByOne<string>(done).put('a'));
  expect(taken).toBe('a');
});
