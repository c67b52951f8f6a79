import { readFileSync } from 'node:fs';

import { expect, test, vi } from 'vitest';

import { load as loadRun } from './routes/runs/[id]/+page';
import { load as loadFrame } from './routes/+layout';

const SCRIPTS = [...readFileSync('src/app.html', 'utf8').matchAll(/<script>(.*?)<\/script>/gs)];
const HOME = { getItem: () => null };

/** What app.html asks the lab before the code of the page is there. */
function askedEarly(pathname: string, localStorage: { getItem: (name: string) => string | null }) {
  const asked: string[] = [];
  const document = {
    documentElement: { dataset: {} },
    createElement: () => ({}),
    head: { append: (link: { href: string }) => asked.push(link.href) },
  };
  const world = {
    document,
    localStorage,
    location: { pathname, search: '' },
    matchMedia: () => ({ matches: false }),
  };
  for (const [, script] of SCRIPTS)
    new Function(...Object.keys(world), script ?? '')(...Object.values(world));
  return asked.sort();
}

/** What the page itself asks first. */
async function asks(id: string | null) {
  const asked: string[] = [];
  const fetch = vi.fn((url: string) => {
    asked.push(url);
    return Promise.reject(new Error('nobody answers'));
  });
  const url = new URL('http://127.0.0.1/');
  const untrack = <T>(read: () => T) => read();
  vi.stubGlobal('location', { pathname: url.pathname, search: '', origin: url.origin });
  await loadFrame({ fetch, url, untrack } as never);
  if (id !== null) await loadRun({ fetch, params: { id } } as never).catch(() => null);
  vi.unstubAllGlobals();
  return asked.sort();
}

test('what is asked before the code is there is what the page asks', async () => {
  expect(askedEarly('/runs', HOME)).toEqual(await asks(null));
  expect(askedEarly('/runs/r-7f3k2m', HOME)).toEqual(await asks('r-7f3k2m'));
});

test('nothing is asked by who is not in yet, or has a lab elsewhere', () => {
  expect(askedEarly('/login', HOME)).toEqual([]);
  expect(askedEarly('/runs/r-7f3k2m', { getItem: () => '{}' })).toEqual([]);
});
