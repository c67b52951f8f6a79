/**
 * Runs of W&B on the page of analytics. Whom the lab asks is another lab, by its door for `wandb`
 * clients: it is filled as a client fills it, goes away, and comes back.
 * The tests build on each other and run in order.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { seriousViolations } from './axe';
import { type Complaints, SIZES, launch, open } from './browser';
import { Lab } from './lab';

const SCREENSHOTS = 'screenshots';
const ROWS = 250;
const STEPS_A_ROW = 1000;
const WINDOW_STEPS = 10_000;
const N_WINDOWS = (ROWS * STEPS_A_ROW) / WINDOW_STEPS;
const UPSERT = `mutation UpsertBucket($name: String, $display: String, $config: JSONString) {
  upsertBucket(input: {name: $name, modelName: "lander", displayName: $display, config: $config}) {
    bucket { id } } }`;

let upstream: Lab;
let lab: Lab;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: Complaints;
const keyBefore = process.env.WANDB_API_KEY;

/** Posts to the door for `wandb` clients as they do. */
async function post(key: string, path: string, body: unknown): Promise<unknown> {
  const own = Buffer.from(`api:${key}`).toString('base64');
  const response = await fetch(upstream.origin + path, {
    method: 'POST',
    headers: { authorization: `Basic ${own}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** A run of a client that went to its end. */
async function log(key: string, name: string, display: string, rows: unknown[]): Promise<void> {
  const config = JSON.stringify({ env_id: { value: 'LunarLander-v3' } });
  await post(key, '/graphql', { query: UPSERT, variables: { name, display, config } });
  const content = rows.map((row) => JSON.stringify(row));
  const files = {
    'wandb-history.jsonl': { offset: 0, content },
    'wandb-summary.json': { offset: 0, content: [content.at(-1) ?? '{}'] },
  };
  const stream = `/files/lab/lander/${name}/file_stream`;
  await post(key, stream, { files });
  await post(key, stream, { complete: true, exitcode: 0 });
}

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  upstream = await Lab.start();
  const { secret } = await upstream.command<{ secret: string }>('token', 'new', '--wandb');
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    _step: index,
    _timestamp: 1_800_000_000 + index,
    global_step: STEPS_A_ROW * (index + 1),
    'charts/episodic_return': index + 1,
    'losses/value_loss': 1 / (index + 1),
  }));
  await log(secret, 'abc123', 'one', rows);
  await log(secret, 'def456', 'two', []);
  // The key is in the environment of the lab alone, and the rest in its folder.
  process.env.WANDB_API_KEY = secret;
  lab = await Lab.start();
  const wandb = { base_url: upstream.origin, entity: 'lab', project: 'lander', ttl_seconds: 1 };
  const settings = { format: 1, wandb, analytics: { window_steps: WINDOW_STEPS } };
  await writeFile(join(lab.data, 'lab.json'), JSON.stringify(settings));
  browser = await launch();
  ({ context, page, complaints } = await open(browser, SIZES[0]));
  await page.goto(lab.loginUrl);
  await page.waitForURL(`${lab.origin}/`);
});

afterAll(async () => {
  if (keyBefore === undefined) delete process.env.WANDB_API_KEY;
  else process.env.WANDB_API_KEY = keyBefore;
  await context?.close();
  await browser?.close();
  await Promise.all([lab?.end(), upstream?.end()]);
});

const figure = (name: string) =>
  page.locator('.metric', { has: page.getByText(name, { exact: true }) }).locator('.v');
const source = () => page.getByRole('region', { name: 'Sources' });

test('while it is asked there are places for the figures, and then the figures', async () => {
  let answer = () => {};
  const asked = new Promise<void>((done) => (answer = done));
  await page.route('**/api/wandb/runs/abc123/history*', async (route) => {
    await asked;
    await route.continue();
  });
  await page.goto(`${lab.origin}/analytics`);
  await page.getByRole('button', { name: 'Show runs of W&B' }).click();
  const run = page.getByLabel('Run', { exact: true });
  await run.waitFor();
  expect((await run.locator('option').allTextContents()).map((it) => it.trim())).toEqual([
    'def456, two, finished',
    'abc123, one, finished',
  ]);
  await run.selectOption('abc123');
  await page.getByText('Loading the figures').first().waitFor({ state: 'attached' });
  await page.getByRole('status').getByText('loading', { exact: true }).waitFor();
  expect(await page.locator('.metric').count()).toBe(0);
  answer();

  await expect.poll(() => figure('Return').textContent()).toBe(`+${ROWS.toFixed(1)}`);
  await page.getByText(`${N_WINDOWS} windows`).waitFor();
  await page.getByRole('heading', { name: `Iteration ${N_WINDOWS}` }).waitFor();
  await source().getByText('ok', { exact: true }).waitFor();
  await source()
    .getByText(/lab\/lander, as of \d+ s ago/i)
    .waitFor();
  // A run of another server has no page here.
  expect(await page.getByRole('link', { name: 'Open the run' }).count()).toBe(0);

  await page.getByLabel('Iteration, the last 10').selectOption('20');
  await page.getByRole('heading', { name: 'Iteration 20' }).waitFor();
  await page.getByRole('cell', { name: 'losses/value_loss', exact: true }).waitFor();
  expect(await seriousViolations(page)).toEqual([]);
  await page.screenshot({ path: `${SCREENSHOTS}/analytics-wandb-1280-light.png`, fullPage: true });
  expect(complaints.take()).toEqual([]);
});

test('while it is away, what was known is shown and called old', async () => {
  await upstream.kill();
  await page.getByText('W&B does not answer, these are old').waitFor({ timeout: 30_000 });
  await source().getByText('stale', { exact: true }).waitFor();
  await source()
    .getByText(/shown is lab\/lander, as of \d+ s ago/)
    .waitFor();
  await page.getByRole('heading', { name: 'Iteration 20' }).waitFor();
  expect(await page.locator('.metric').first().getAttribute('class')).toContain('stale');
  expect(await seriousViolations(page)).toEqual([]);
  await page.screenshot({ path: `${SCREENSHOTS}/analytics-wandb-stale-1280-light.png` });
  expect(complaints.take()).toEqual([]);
});

test('of what nobody knows there is only the trouble, until it is back', async () => {
  // A lab that has just started remembers nothing of it.
  await lab.kill();
  await lab.up();
  await page.goto(`${lab.origin}/analytics?source=wandb`);
  const trouble = page.getByRole('alert');
  await trouble.waitFor();
  expect(await seriousViolations(page)).toEqual([]);
  await page.screenshot({ path: `${SCREENSHOTS}/analytics-wandb-away-1280-light.png` });
  // The lab's own runs can be chosen all the same.
  await page.getByRole('button', { name: 'Local' }).click();
  await page.getByText('Nothing was trained yet').waitFor();
  await page.goBack();
  await trouble.waitFor();
  await upstream.up();
  const run = page.getByLabel('Run', { exact: true });
  await expect
    .poll(async () => {
      if ((await run.count()) > 0) return true;
      await trouble.getByRole('button', { name: 'Try again' }).click({ timeout: 1000 });
      return false;
    })
    .toBe(true);
  await run.selectOption('abc123');
  await expect.poll(() => figure('Return').textContent()).toBe(`+${ROWS.toFixed(1)}`);
  complaints.take();
});
