import { beforeEach, expect, test, vi } from 'vitest';

import { note } from './note';

type Target = { url: URL } | null;

const app = vi.hoisted(() => ({
  page: { url: new URL('http://lab/evaluations?new=match') },
  navigating: { to: null as Target, complete: null as Promise<void> | null },
  went: [] as string[],
}));
vi.mock('$app/state', () => ({ page: app.page, navigating: app.navigating }));
vi.mock('$app/navigation', () => ({ goto: (to: string) => void app.went.push(to) }));

beforeEach(() => {
  app.went.length = 0;
  app.navigating.to = app.navigating.complete = null;
});

/** A navigation that is under way until it is let through. */
function under(way: string): () => Promise<void> {
  let arrive = () => {};
  app.navigating.complete = new Promise((done) => (arrive = done));
  app.navigating.to = { url: new URL(way, app.page.url) };
  return async () => {
    app.navigating.to = app.navigating.complete = null;
    arrive();
    await Promise.resolve();
    await Promise.resolve();
  };
}

test('a part of the address changes, and what is empty is left out', () => {
  note({ n: '12' });
  note({ new: null });
  expect(app.went).toEqual(['/evaluations?new=match&n=12', '/evaluations']);
});

test('what stands there already is not written again', () => {
  note({ new: 'match', n: null, b: '' });
  expect(app.went).toEqual([]);
});

test('nothing is noted on the way to another page', async () => {
  const arrive = under('/evaluations/m-1');
  note({ n: '12' });
  await arrive();
  expect(app.went).toEqual([]);
});

test('another change of this page is waited for', async () => {
  const arrive = under('/evaluations?new=policy');
  note({ n: '12' });
  expect(app.went).toEqual([]);
  app.page.url = new URL('http://lab/evaluations?new=policy');
  await arrive();
  expect(app.went).toEqual(['/evaluations?new=policy&n=12']);
});
