/** Who opens something from a long list and goes back is where they were: row, choice and pages. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { SIZES, close, launch, logIn, open, type Session } from './browser';
import { Lab } from './lab';
import { expectSound, expectSoundAtAllSizes } from './sound';

const SHORT = ['--set', 'evaluation.final_episodes=1', '--set', 'evaluation.episodes=1'];
/** What the lists of these tests lead to is not there. */
const MISSING = /\b404\b/;

type Json = Record<string, unknown>;

let lab: Lab;
let browser: Browser;
let session: Session;
let ended: string;
let like: Json;

beforeAll(async () => {
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
  const args = ['train', 'CartPole-v1', '--now', '--steps', '10000', '--seed', '1', ...SHORT];
  ended = (await lab.command<{ run_id: string }>(...args)).run_id;
  await lab.ended(ended);
  like = await lab.call<Json>(`/api/runs/${ended}`);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

/** Answers with pages of a list that has `n` items, and a number for where it goes on. */
async function pretend(
  page: Page,
  path: string,
  { n, limit, cursor }: { n: number; limit: number; cursor: string },
  answer: (items: number[], next: string | null) => Json,
): Promise<void> {
  await page.route(
    (url) => url.pathname === path,
    (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get(cursor) ?? 0);
      const to = Math.min(n, from + limit);
      const items = Array.from({ length: to - from }, (_, index) => from + index);
      return route.fulfill({ json: answer(items, to < n ? String(to) : null) });
    },
  );
}

/** Newest first, from long ago. */
const dated = (n: number) => new Date(Date.UTC(2020, 0, 1) - n * 1000).toISOString();
const runLike = (n: number, more: Json = {}): Json => ({
  ...like,
  id: `r-n${n}`,
  name: `Run number ${n}`,
  created_at: dated(n),
  ...more,
});

/** How far below the top of the window something is. */
const top = async (it: Locator) => Math.round((await it.boundingBox())?.y ?? NaN);

/** Opens what is in view, goes back by what is given, and finds it where it was. */
async function goThereAndBack(page: Page, link: Locator, back: () => Promise<unknown>) {
  const home = page.url();
  const before = await top(link);
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(page.viewportSize()?.height ?? 0);
  await link.click();
  await page.waitForURL((url) => url.href !== home);
  await page.locator('#main').waitFor();
  await back();
  await page.waitForURL(home);
  await expect.poll(() => top(link)).toBe(before);
}

test('ten thousand runs: the table is where it was, and so is what was chosen', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await pretend(
    page,
    '/api/runs',
    { n: 10_000, limit: 500, cursor: 'cursor' },
    (items, next_cursor) => ({ runs: items.map((n) => runLike(n)), next_cursor }),
  );
  await page.goto(`${lab.origin}/runs`);
  const all = page.getByRole('status').filter({ hasText: /^10,\d{3}$/ });
  await all.waitFor({ timeout: 20_000 });
  await page.getByLabel('Choose r-n3', { exact: true }).check();
  const box = page.getByRole('region', { name: 'Table of runs' });
  await box.evaluate((box) => box.scrollTo({ top: 200_010 }));
  const link = page.getByRole('link', { name: 'r-n5003', exact: true });
  const chosen = page.getByRole('toolbar', { name: 'Chosen runs' }).getByText('1 chosen');

  await goThereAndBack(page, link, () => page.goBack());
  await chosen.waitFor();
  // The same when all of it must be fetched again.
  await goThereAndBack(page, link, async () => {
    await page.reload();
    await page.locator('#main').waitFor();
    await page.goBack();
  });
  await chosen.waitFor();
  await page.reload();
  await all.waitFor({ timeout: 20_000 });
  await expect.poll(() => link.count()).toBe(1);
  await chosen.waitFor();
  await expectSound(page, complaints, MISSING);
  await close(context);
});

test('runs by thumb', async () => {
  const { context, page, complaints } = await open(browser, SIZES[1], { storageState: session });
  await pretend(
    page,
    '/api/runs',
    { n: 120, limit: 500, cursor: 'cursor' },
    (items, next_cursor) => ({ runs: items.map((n) => runLike(n)), next_cursor }),
  );
  await page.goto(`${lab.origin}/runs?q=number`);
  await page.getByRole('button', { name: 'Show 50 more' }).click();
  await page.getByLabel('Choose r-n3', { exact: true }).check();
  const link = page.getByRole('link', { name: /r-n90\b/ });
  await link.scrollIntoViewIfNeeded();
  await goThereAndBack(page, link, () => page.goBack());
  await page.getByText('1 chosen').waitFor();
  await expectSound(page, complaints, MISSING);
  await close(context);
});

const job = (n: number, kind: string): Json => ({
  run: runLike(n, { kind: 'eval', group: kind }),
  checkpoint: null,
  video: false,
  result: null,
});

test.each([
  [
    'models',
    '/api/models',
    'after',
    (items: number[], next: string | null) => ({
      next,
      models: items.map((n) => ({
        name: `model-${n}`,
        env_id: 'CartPole-v1',
        n_versions: 1,
        aliases: {},
        usual: { step: n, run_id: null },
        created_at: dated(n),
        created_by: 'admin',
      })),
    }),
  ],
  [
    'experiments',
    '/api/experiments',
    'after',
    (items: number[], next: string | null) => ({
      next,
      experiments: items.map((n) => ({
        id: `e-n${n}`,
        name: `Experiment ${n}`,
        description: '',
        archived: false,
        env_id: 'CartPole-v1',
        algorithm: 'ppo',
        preset: null,
        n_runs: 0,
        sha256: '0'.repeat(64),
        created_at: dated(n),
        created_by: 'admin',
      })),
    }),
  ],
  [
    'evaluations',
    '/api/evals',
    'cursor',
    (items: number[], next_cursor: string | null) => ({
      next_cursor,
      evaluations: items.map((n) => job(n, 'policy')),
    }),
  ],
  [
    'tournaments',
    '/api/evals',
    'cursor',
    (items: number[], next_cursor: string | null) => ({
      next_cursor,
      evaluations: items.map((n) => job(n, 'tournament')),
    }),
  ],
  [
    'audit',
    '/api/audit',
    'before',
    (items: number[], next: string | null) => ({
      before: next === null ? null : Number(next),
      lines: items.reverse().map((n) => ({
        seq: 1000 - n,
        at: dated(n),
        who: 'admin',
        role: 'admin',
        what: 'stop',
        target: `r-n${n}`,
        old: null,
        new: null,
        request: null,
        request_id: null,
        hash: '',
      })),
    }),
  ],
] as const)(
  '%s: the pages that were asked for are there again',
  async (name, path, cursor, answer) => {
    const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
    await pretend(page, path, { n: 170, limit: 60, cursor }, answer);
    await page.goto(`${lab.origin}/${name}`);
    const links = page.locator('td').locator('a.cover, a[href^="/runs/"]');
    const more = page.getByRole('button', { name: /^(Load more|Older lines)$/ });
    await more.click();
    await expect.poll(() => links.count()).toBe(120);
    const link = links.nth(109);
    await link.scrollIntoViewIfNeeded();
    await goThereAndBack(page, link, () => page.goBack());
    expect(await links.count()).toBe(120);
    await more.waitFor();
    await expectSoundAtAllSizes(page, complaints, MISSING);
    await close(context);
  },
);

test('replay: all episodes of a run, and runs', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(`${lab.origin}/replay?run=${ended}`);
  const cards = page.locator('a.ep');
  const more = page.getByRole('button', { name: 'Load more', exact: true });
  await expect.poll(() => cards.count()).toBe(60);
  await more.click();
  await expect.poll(() => cards.count()).toBe(120);
  await cards.nth(110).scrollIntoViewIfNeeded();
  await goThereAndBack(page, cards.nth(110), () => page.goBack());
  expect(await cards.count()).toBe(120);
  expect(complaints.take()).toEqual([]);

  const episodes = await lab.call<Json>(`/api/runs/${ended}/episodes?limit=6`);
  await page.route(/\/api\/runs\/r-n\d+\/episodes\?/, (route) => route.fulfill({ json: episodes }));
  await pretend(
    page,
    '/api/runs',
    { n: 40, limit: 15, cursor: 'cursor' },
    (items, next_cursor) => ({ runs: items.map((n) => runLike(n)), next_cursor }),
  );
  await page.goto(`${lab.origin}/replay`);
  const shelves = page.locator('.shelf');
  await page.getByRole('button', { name: 'Load more runs' }).click();
  await expect.poll(() => shelves.count()).toBe(30);
  const title = shelves.nth(25).getByRole('link', { name: 'r-n25' });
  await title.scrollIntoViewIfNeeded();
  await title.click();
  await page.waitForURL('**/runs/r-n25');
  await page.goBack();
  await expect.poll(() => shelves.count()).toBe(30);
  await expect.poll(() => top(title)).toSatisfy((y: number) => y > 0 && y < SIZES[0].height);
  expect(complaints.take(MISSING)).toEqual([]);
  await close(context);
});
