/**
 * The page of one run: what it shows while other answers are slow, its charts by keys, what it used of
 * the machine, and several tabs on the same run. One lab, with one training that has ended and one that goes on.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { seriousViolations } from './axe';
import { SIZES, close, launch, logIn, open, type Session } from './browser';
import { Lab } from './lab';
import { expectSound, shoot } from './sound';

const SCREENSHOTS = 'screenshots';
const SHORT = ['--set', 'evaluation.final_episodes=2', '--set', 'evaluation.episodes=1'];

let lab: Lab;
let browser: Browser;
let session: Session;
let ended: string;
/** Trains for ever, until it is stopped. */
let endless: string;
/** One that used a GPU, and one whose supervisor never measured anything. */
const [used, unheard] = ['r-00g001', 'r-00g000'];

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
  const train = async (...more: string[]) =>
    (await lab.command<{ run_id: string }>('train', 'CartPole-v1', ...more, ...SHORT)).run_id;
  ended = await train('--steps', '20000', '--seed', '1');
  endless = await train('--steps', '1000000000', '--seed', '7', '--detach');
  await makeUsed(used, 240);
  await makeUsed(unheard, 0);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

const tab = (size = SIZES[0] as (typeof SIZES)[number]) =>
  open(browser, size, { storageState: session });

/** Asks for an evaluation as a job. */
async function evaluate(run: string, episodes: number): Promise<{ id: string }> {
  const response = await fetch(`${lab.origin}/api/runs/${run}/evaluate`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await lab.token()}`,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ checkpoint: 'latest', episodes, seed: 0, deterministic: true }),
  });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as { id: string };
}

const drawn = (page: Page, title: string) =>
  page.getByRole('img', { name: new RegExp(`^${title}, now .*, [1-9]\\d* points`) });

test('charts and events do not wait for episodes that are slow to come', async () => {
  const { context, page, complaints } = await tab();
  const asked: string[] = [];
  // Never answered: whatever waits for it waits for ever.
  await page.route('**/episodes?**', (route) => void asked.push(route.request().url()));
  await page.goto(`${lab.origin}/runs/${ended}`);
  await drawn(page, 'Mean return').waitFor();
  await page.locator('.log li', { hasText: 'checkpoint' }).first().waitFor();
  await page.getByText('Loading episodes').waitFor({ state: 'attached' });
  expect(asked.length).toBeGreaterThan(0);
  await page.goto(`${lab.origin}/lab?run=${ended}`);
  await page.locator('.log li', { hasText: 'checkpoint' }).first().waitFor();
  await page.getByText('Loading episodes').waitFor({ state: 'attached' });
  expect(complaints.take()).toEqual([]);
  await close(context);
});

/** What the charts of a page are zoomed to, by its address. */
const zoom = (page: Page) =>
  new URL(page.url()).searchParams.get('range')?.split('..').map(Number) ?? null;

test.each(['/runs/RUN', '/compare?runs=RUN'])('the charts of %s by keys alone', async (address) => {
  const { context, page, complaints } = await tab();
  await page.goto(lab.origin + address.replace('RUN', ended));
  const chart = page.getByRole('application', { name: 'Mean return' });
  await chart.focus();
  await page.keyboard.press('+');
  await page.waitForURL('**range=*');
  const [low = NaN, high = NaN] = zoom(page) ?? [];
  expect(high).toBeGreaterThan(low);
  await chart.getByText(`From ${Math.round(low / 100) / 10}k to`).waitFor({ state: 'attached' });
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => zoom(page)?.[0]).toBeCloseTo(low + (high - low) / 4, 0);
  // Further than the end there is nothing.
  for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowRight');
  const end = low * 2 + (high - low);
  await expect.poll(() => zoom(page)?.[1]).toBeCloseTo(end, 0);
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
    'Mean return',
  );
  expect(await seriousViolations(page)).toEqual([]);
  await page.screenshot({ path: `${SCREENSHOTS}/chart-keys-${address.slice(1, 4)}.png` });
  await page.keyboard.press('-');
  await page.keyboard.press('Escape');
  await expect.poll(() => zoom(page)).toBeNull();
  await chart.getByText('Everything', { exact: true }).waitFor({ state: 'attached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Zoom all charts of the page').waitFor();
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test.each(SIZES)('a chart fills the screen, and is a file, at $name', async (size) => {
  const { context, page, complaints } = await tab(size);
  await page.goto(`${lab.origin}/runs/${ended}`);
  const chart = page.getByRole('application', { name: 'Loss', exact: true });
  const large = page.getByRole('dialog', { name: 'Loss, full screen' });
  await chart.focus();
  await page.keyboard.press('v');
  await page.waitForURL('**chart=train%2Floss');
  await drawn(page, 'Loss').nth(1).waitFor();
  const height = await large
    .locator('canvas')
    .evaluate((canvas) => canvas.getBoundingClientRect().height);
  expect(height).toBeGreaterThan(size.height - 200);
  await shoot(page, 'chart-full', size);
  await expectSound(page, complaints);

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    large.getByRole('button', { name: 'CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${ended}-train-loss.csv`);
  type Curves = { series: { step: number[]; t: number[]; value: number[] }[] };
  const asked = `/api/runs/${ended}/metrics?keys=train/loss&points=10000`;
  const [curve] = (await lab.call<Curves>(asked)).series;
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
  expect(lines).toEqual([
    'step,wall_time,value',
    ...(curve?.step.map((step, at) => {
      const time = new Date(1000 * (curve.t[at] ?? NaN)).toISOString();
      return `${step},${time},${curve.value[at]}`;
    }) ?? []),
  ]);
  expect(lines.length).toBeGreaterThan(5);

  // It is zoomed as the others are, and Escape closes it from wherever one is.
  await large.getByRole('application').focus();
  await page.keyboard.press('+');
  await page.waitForURL('**range=*');
  await page.keyboard.press('Escape');
  await large.waitFor({ state: 'detached' });
  expect(await chart.evaluate((it) => it === document.activeElement)).toBe(true);
  expect(zoom(page)).not.toBeNull();
  // By pointer, and back as one goes back.
  await page.getByRole('button', { name: 'Loss, full screen', exact: true }).click();
  await large.waitFor();
  await page.goBack();
  await large.waitFor({ state: 'detached' });
  // A key that ends a sequence is no key of the chart.
  await chart.focus();
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  await page.waitForURL('**/evaluations');
  expect(await large.count()).toBe(0);
  expect(complaints.take()).toEqual([]);
  await close(context);
});

/** A run as a trainer on a GPU leaves it: two attempts, with an hour between them. */
async function makeUsed(id: string, n_beats: number): Promise<void> {
  const folder = join(lab.data, 'runs', id);
  await mkdir(folder, { recursive: true });
  const T0 = 1_700_000_000;
  const EVERY_S = 5;
  const lines = (of: object[]) => of.map((line) => `${JSON.stringify(line)}\n`).join('');
  const at = (n: number) => ({ attempt: n < n_beats / 2 ? 1 : 2, t: timeOf(n) });
  const timeOf = (n: number) => T0 + EVERY_S * n + (n < n_beats / 2 ? 0 : 3600);
  const beats = Array.from({ length: n_beats }, (_, n) => ({
    ...at(n),
    type: 'heartbeat',
    // One moment at which it was busier than ever.
    cpu_percent: n === 33 ? 790 : 180 + 15 * Math.sin(n / 3),
    rss_bytes: 1.2e9 + 4e6 * n,
    gpu: {
      percent: 70 + 25 * Math.sin(n / 7),
      memory_bytes: Math.round(6e9 + 1e9 * Math.sin(n / 40)),
    },
  }));
  const end = { ...at(n_beats), type: 'exited', code: 0, signal: null, log: [] };
  await writeFile(
    join(folder, 'supervisor.jsonl'),
    lines([{ ...at(0), type: 'started', supervisor_pid: 1, trainer_pid: 2 }, ...beats, end]),
  );
  const rows = Array.from({ length: 200 }, (_, n) => {
    const { attempt, t } = at(Math.floor((n * n_beats) / 200));
    const values = { 'train/loss': 1 / (n + 1), 'time/fps': 1000 + 50 * Math.sin(n) };
    return { attempt, row: n + 1, t: t + 1, step: 5000 * (n + 1), values };
  });
  await writeFile(join(folder, 'metrics.jsonl'), lines(rows));
  const config = { algo: 'ppo', trainer: { total_timesteps: 5000 * n_beats }, env: {} };
  const manifest = { format: 1, id, kind: 'external', name: 'On a GPU', env_id: 'Somewhere-v0' };
  const made = { ...manifest, config, created_at: T0, cartridge_version: '0' };
  await writeFile(join(folder, 'run.json'), JSON.stringify(made));
  await lab.ended(id);
}

/** How many points a chart has. */
const points = async (page: Page, title: string) => {
  const image = page.getByRole('img', { name: new RegExp(`^${title}, now`) });
  return Number(/(\d+) points$/.exec((await image.getAttribute('aria-label')) ?? '')?.[1]);
};

/** The charts of what a run used, come near and with all that there is. */
async function resources(page: Page): Promise<Locator> {
  const section = page.getByRole('region', { name: 'Resources' });
  await section.scrollIntoViewIfNeeded();
  return section;
}

test.each(SIZES)('what a run uses of the machine has charts, at $name', async (size) => {
  const { context, page, complaints } = await tab(size);
  await page.goto(`${lab.origin}/runs/${used}`);
  const section = await resources(page);
  for (const title of ['CPU', 'Memory', 'GPU', 'GPU memory']) await drawn(page, title).waitFor();
  // The spike is there, and the hour between the attempts, in which nothing ran.
  const path = `/api/runs/${used}/resources?points=10000`;
  type Columns = { t: number[]; cpu_percent: (number | null)[] };
  const { t, cpu_percent } = await lab.call<Columns>(path);
  expect(cpu_percent).toContain(790);
  expect(cpu_percent.filter((value) => value === null)).toHaveLength(1);
  await section.scrollIntoViewIfNeeded();
  await shoot(page, 'run-resources', size);
  await expectSound(page, complaints);

  // They have the axis, the zoom and the keys of the others.
  const cpu = section.getByRole('application', { name: 'CPU' });
  await cpu.focus();
  await page.keyboard.press('+');
  await page.waitForURL('**range=*');
  const [low = NaN, high = NaN] = zoom(page) ?? [];
  expect(high).toBeGreaterThan(low);
  await page.keyboard.press('Escape');
  await expect.poll(() => zoom(page)).toBeNull();
  await page.getByRole('group', { name: 'X axis' }).getByText('relative').click();
  await page.waitForURL('**x=relative*');
  await shoot(page, 'run-resources-relative', size);
  await cpu.focus();
  await page.keyboard.press('v');
  const large = page.getByRole('dialog', { name: 'CPU, full screen' });
  await large.getByRole('img', { name: /^CPU, now/ }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    large.getByRole('button', { name: 'CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${used}-resources-cpu_percent.csv`);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
  expect(lines).toEqual([
    'wall_time,value',
    ...t.map((time, at) => `${new Date(1000 * time).toISOString()},${cpu_percent[at] ?? ''}`),
  ]);
  await page.keyboard.press('Escape');
  await large.waitFor({ state: 'detached' });
  // Who comes by the address of such a chart finds it.
  await page.goto(`${lab.origin}/runs/${used}?chart=resources%2Fmemory_bytes`);
  await page.getByRole('dialog', { name: 'Memory, full screen' }).locator('canvas').waitFor();
  await expectSound(page, complaints);
  await close(context);
});

test.each(SIZES)(
  'they go on while it trains, and are not asked for before, at $name',
  async (size) => {
    const { context, page, complaints } = await tab(size);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/resources')) asked.push(request.url());
    });
    await page.goto(`${lab.origin}/runs/${endless}`);
    await drawn(page, 'Mean return').waitFor();
    expect(asked, 'before anybody has come near').toEqual([]);
    await resources(page);
    await drawn(page, 'CPU').waitFor();
    const before = await points(page, 'CPU');
    await expect.poll(() => points(page, 'CPU'), { timeout: 30_000 }).toBeGreaterThan(before);
    expect(await page.getByRole('img', { name: /^GPU/ }).count(), 'no GPU, no chart').toBe(0);
    expect(asked.at(-1), 'what is new').toMatch(/[?&]from=/);
    await page.goto(`${lab.origin}/runs/${unheard}`);
    const section = await resources(page);
    await section.getByText('Nothing was measured').waitFor();
    const command = section.getByRole('group', { name: 'Command' });
    expect(await command.textContent()).toContain(`/api/runs/${unheard}/resources`);
    await shoot(page, 'run-resources-none', size);
    await expectSound(page, complaints);
    await close(context);
  },
);

test.each(SIZES)('an evaluation on its run page at $name: log, and an end', async (size) => {
  const { context, page, complaints } = await tab(size);
  const { id } = await evaluate(ended, 10_000);
  await page.goto(`${lab.origin}/runs/${id}`);
  await page.getByRole('heading', { name: 'Log tail' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.screenshot({ path: `${SCREENSHOTS}/run-eval-going-${size.name}.png`, fullPage: true });
  await page.getByRole('button', { name: 'Press again to cancel' }).click();
  await page.locator('.badge', { hasText: 'terminated' }).waitFor({ timeout: 30_000 });
  await page.getByRole('region', { name: 'Log lines' }).waitFor();
  expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  expect(await seriousViolations(page)).toEqual([]);
  await page.getByRole('link', { name: 'Result page' }).click();
  await page.waitForURL(`**/evaluations/${id}`);
  expect(complaints.take()).toEqual([]);
  await close(context);
});

/** The step that a run page shows. */
const step = async (page: Page) => {
  const text = await page.locator('.facts div', { hasText: 'Step' }).first().innerText();
  return Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', ''));
};

test.each(SIZES)(
  'two tabs on one run are both live and show what one asks, at $name',
  async (size) => {
    const [first, second] = [await tab(size), await tab(size)];
    for (const { page } of [first, second]) {
      await page.goto(`${lab.origin}/runs/${endless}`);
      await drawn(page, 'Mean return').waitFor();
    }
    for (const { page } of [first, second]) {
      const before = await step(page);
      await expect.poll(() => step(page)).toBeGreaterThan(before);
    }
    const button = ({ page }: typeof first, name: string) =>
      page.getByRole('group', { name: 'Control' }).getByRole('button', { name, exact: true });
    await button(first, 'Pause').click();
    await second.page.locator('.runhead .badge', { hasText: 'paused' }).waitFor();
    await button(second, 'Resume').click();
    await first.page.locator('.runhead .badge', { hasText: 'running' }).waitFor();
    const paused = await step(first.page);
    await expect.poll(() => step(first.page)).toBeGreaterThan(paused);
    // Both tell of it in their logs, too.
    for (const { page, context, complaints } of [first, second]) {
      await page
        .locator('.log li', { hasText: /[Rr]esumed/ })
        .first()
        .waitFor();
      await expectSound(page, complaints);
      await close(context);
    }
  },
);

test.each(SIZES)('a run that is deleted in one tab leaves the others, at $name', async (size) => {
  const doomed = (
    await lab.command<{ run_id: string }>('train', 'CartPole-v1', '--steps', '5000', ...SHORT)
  ).run_id;
  await lab.ended(doomed);
  const [list, same, other] = [await tab(size), await tab(size), await tab(size)];
  await list.page.goto(`${lab.origin}/runs`);
  await list.page.getByRole('link', { name: doomed }).first().waitFor();
  for (const { page } of [same, other]) {
    await page.goto(`${lab.origin}/runs/${doomed}`);
    await drawn(page, 'Mean return').waitFor();
  }
  await other.page.getByRole('button', { name: 'Delete', exact: true }).click();
  await other.page.waitForURL('**/runs');
  await list.page.getByRole('link', { name: doomed }).first().waitFor({ state: 'detached' });
  await same.page.getByRole('heading', { name: `${doomed} was deleted` }).waitFor();
  await other.page.locator('.toast').getByRole('button', { name: 'Undo' }).waitFor();
  const command = same.page.getByRole('group', { name: 'Command' });
  expect(await command.textContent()).toContain(`/api/runs/${doomed}/restore`);
  await shoot(same.page, 'run-deleted', size);
  await same.page.getByRole('button', { name: 'Restore', exact: true }).click();
  await drawn(same.page, 'Mean return').waitFor();
  await list.page.getByRole('link', { name: doomed }).first().waitFor();
  // A page may have asked for a part of the run at the moment when it went.
  const gone = new RegExp(`\\b404\\b.*/api/runs/${doomed}\\b`);
  for (const { page, context, complaints } of [list, same, other]) {
    expect(complaints.take(gone)).toEqual([]);
    await expectSound(page, complaints);
    await close(context);
  }
});
