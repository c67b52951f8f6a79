import { expect, test } from 'vitest';
import type { FeedMessage } from '$lib/api/types';

import { Followed } from './followed.svelte';

const deleted = (run_id: string) => ({ type: 'RunDeleted', run_id }) as FeedMessage;
const snapshot = { type: 'Snapshot', reset: false, runs: [] } as unknown as FeedMessage;

/** A list of names, with answers that the test gives. */
function made() {
  let names: string[] = [];
  const answers: { give: (names: string[]) => void; refuse: (error: Error) => void }[] = [];
  const followed = new Followed<string[]>({
    ask: () => new Promise((give, refuse) => answers.push({ give, refuse })),
    take: (found) => (names = found),
    hear: (message) => {
      if (message.type === 'RunDeleted') names = [...names, message.run_id];
    },
  });
  return { followed, answers, names: () => names };
}

test('what comes while it loads is heard after it, and what comes before it is in it', async () => {
  const { followed, answers, names } = made();
  followed.receive(deleted('too early'));
  const loading = followed.load();
  followed.receive(deleted('b'));
  expect(names()).toEqual([]);
  answers[0]?.give(['a']);
  await loading;
  expect(followed.loaded).toBe(true);
  followed.receive(deleted('c'));
  expect(names()).toEqual(['a', 'b', 'c']);
});

test('a later snapshot loads again, and the first does not', async () => {
  const { followed, answers, names } = made();
  followed.receive(snapshot);
  expect(answers).toHaveLength(0);
  const loading = followed.load();
  answers[0]?.give(['a']);
  await loading;
  followed.receive(snapshot);
  expect(answers).toHaveLength(2);
  answers[1]?.give(['other']);
  await expect.poll(names).toEqual(['other']);
});

test('a load that fails keeps what there was, and says so', async () => {
  const { followed, answers, names } = made();
  const first = followed.load();
  answers[0]?.give(['a']);
  await first;
  const second = followed.load();
  followed.receive(deleted('b'));
  answers[1]?.refuse(new Error('away'));
  await second;
  expect(followed.problem?.detail).toBe('away');
  expect(names()).toEqual(['a', 'b']);
});

test('after something that came early the first snapshot loads, for what was missed', async () => {
  const { followed, answers, names } = made();
  followed.loaded = true;
  followed.receive(snapshot);
  answers[0]?.give(['whole']);
  await expect.poll(names).toEqual(['whole']);
});
