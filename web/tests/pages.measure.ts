/**
 * How heavy and how quick the pages are, in a real browser with the real binary.
 *
 * Every page is opened in a fresh browser profile: what it loads, gzipped, and when something is
 * first painted. A run of a million rows of eight metrics is opened until all its charts are drawn,
 * in a fresh profile and once more in one that has seen the app.
 * A run page then follows a training for MINUTES (30), and the lab page for a few: tasks that held the
 * page for more than 50 ms once it was open, and the heap at the end, after a collection.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { SIZES, launch, open } from './browser';
import { Lab, pause } from './lab';

const MINUTES = Number(process.env.MINUTES ?? 30);
const LAB_MINUTES = Math.min(5, MINUTES);
const ROWS = Number(process.env.ROWS ?? 1_000_000);
const LOADS = 5;
const LONG = 'r-000001';
const KEYS = [
  'rollout/ep_rew_mean',
  'rollout/ep_len_mean',
  'train/loss',
  'train/value_loss',
  'train/entropy_loss',
  'train/approx_kl',
  'train/explained_variance',
  'train/learning_rate',
];
/** The network, not the page, decides when something that streams is complete. */
const SETTLE_MS = 3_000;

let lab: Lab;
let browser: Browser;
let session: Awaited<ReturnType<BrowserContext['storageState']>>;
let trained: string;

beforeAll(async () => {
  lab = await Lab.start();
  browser = await launch();
  const { context, page } = await open(browser, SIZES[0]);
  await page.goto(lab.loginUrl);
  await page.waitForURL((url) => url.pathname !== '/login');
  session = await context.storageState();
  await context.close();
  const train = ['train', 'CartPole-v1', '--steps', '100000', '--seed', '3'];
  trained = (await lab.command<{ run_id: string }>(...train)).run_id;
  await lab.ended(trained);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

function say(what: string, figures: Record<string, unknown>): void {
  process.stdout.write(`MEASURED ${JSON.stringify({ what, ...figures })}\n`);
}

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Opens an address in a fresh profile; the files of the app that it asked for, and its first paint. */
async function load(address: string): Promise<{ files: string[]; paint: number }> {
  const { context, page } = await open(browser, SIZES[0], { storageState: session });
  const files: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/api/')) files.push(request.url());
  });
  await page.goto(lab.origin + address);
  await page.locator('#main').waitFor();
  // What comes after this is the code of other pages.
  const needed = files.slice();
  await pause(500);
  const paint = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
  );
  await context.close();
  return { files: needed, paint };
}

async function gzipped(url: string): Promise<number> {
  const response = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  await response.body?.cancel();
  return Number(response.headers.get('content-length'));
}

test('every page: weight and first paint', async () => {
  for (const address of [
    '/',
    '/lab',
    '/runs',
    `/runs/${trained}`,
    `/compare?runs=${trained}`,
    '/experiments',
    '/experiments/new',
    '/evaluations',
    '/leaderboard',
    '/tournaments',
    '/models',
    '/replay',
    `/replay/${trained}/1`,
    '/play',
    '/analytics',
    '/cluster',
    '/audit',
    '/settings',
  ]) {
    const loads = [];
    for (let times = 0; times < LOADS; times += 1) loads.push(await load(address));
    const files = [...new Set(loads[0]?.files)];
    const sizes = await Promise.all(files.map(gzipped));
    say('page', {
      address: address.replace(trained, 'RUN'),
      files: files.length,
      gzip_kb: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 100) / 10,
      first_paint_ms: Math.round(median(loads.map(({ paint }) => paint))),
      slowest_paint_ms: Math.round(Math.max(...loads.map(({ paint }) => paint))),
    });
  }
});

/** A run folder as a training of many hours leaves it. */
async function makeLong(): Promise<void> {
  const folder = join(lab.data, 'runs', LONG);
  await mkdir(folder, { recursive: true });
  const t0 = Date.now() / 1000 - 20_000;
  const metrics = createWriteStream(join(folder, 'metrics.jsonl'));
  let lines = '';
  for (let row = 1; row <= ROWS; row += 1) {
    const values = Object.fromEntries(
      KEYS.map((key) => [key, Math.sin(row / 9000) + Math.random()]),
    );
    lines += `${JSON.stringify({ attempt: 1, row, t: t0 + row * 0.0137, step: row * 8, values })}\n`;
    if (row % 5000 === 0 || row === ROWS) {
      if (!metrics.write(lines)) await once(metrics, 'drain');
      lines = '';
    }
  }
  metrics.end();
  await once(metrics, 'finish');
  const events = [
    { type: 'started', supervisor_pid: 1, trainer_pid: 2 },
    { type: 'exited', code: 0, signal: null, log: [] },
  ];
  const told = events.map((event, n) => JSON.stringify({ attempt: 1, t: t0 + n, ...event }));
  await writeFile(join(folder, 'supervisor.jsonl'), `${told.join('\n')}\n`);
  const config = { algo: 'ppo', trainer: { total_timesteps: ROWS * 8 }, env: {} };
  const manifest = {
    format: 1,
    id: LONG,
    kind: 'train',
    name: 'A long run',
    env_id: 'CartPole-v1',
  };
  const made = { ...manifest, config, created_at: t0, cartridge_version: '0' };
  await writeFile(join(folder, 'run.json'), JSON.stringify(made));
}

test('a run of a million rows', async () => {
  await makeLong();
  type Metrics = { last_row?: number };
  const path = `/api/runs/${LONG}/metrics?points=2`;
  await expect
    .poll(async () => (await lab.call<Metrics>(path)).last_row, { timeout: 300_000, interval: 500 })
    .toBe(ROWS);
  const fresh: number[] = [];
  const again: number[] = [];
  for (let times = 0; times < LOADS; times += 1) {
    const { context, page } = await open(browser, SIZES[0], { storageState: session });
    fresh.push(await untilDrawn(page));
    await pause(SETTLE_MS);
    again.push(await untilDrawn(page));
    await context.close();
  }
  say('long run', {
    rows: ROWS,
    charts: KEYS.length,
    interactive_ms: median(again),
    all: again,
    interactive_ms_in_a_fresh_profile: median(fresh),
    all_in_fresh_profiles: fresh,
  });
});

/** Opens the long run; milliseconds until all its charts are drawn and the page answers. */
async function untilDrawn(page: Page): Promise<number> {
  await page.goto(`${lab.origin}/runs/${LONG}`, { waitUntil: 'commit' });
  await page.waitForFunction((n) => {
    const charts = [...document.querySelectorAll('[role=img][aria-label*=" points"]')];
    const full = charts.filter(
      (chart) => !/, 0 points/.test(chart.getAttribute('aria-label') ?? ''),
    );
    return full.length >= n && document.querySelectorAll('.u-over').length >= n;
  }, KEYS.length);
  // The page answers when the next picture has been painted.
  const answers = () =>
    new Promise<number>((done) =>
      requestAnimationFrame(() => setTimeout(() => done(performance.now()))),
    );
  return Math.round(await page.evaluate(answers));
}

/** Notes every task of a page that held it for long. */
async function watch(page: Page, address: string): Promise<void> {
  await page.goto(lab.origin + address);
  await page.locator('canvas').first().waitFor();
  await pause(SETTLE_MS);
  await page.evaluate(() => {
    const tasks: number[] = [];
    (window as unknown as { tasks: number[] }).tasks = tasks;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(Math.round(entry.duration));
    });
    observer.observe({ type: 'longtask' });
  });
}

test('pages that follow a training', async () => {
  const response = await fetch(`${lab.origin}/api/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await lab.token()}`,
      'idempotency-key': crypto.randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      env_id: 'LunarLander-v3',
      algorithm: 'ppo',
      total_timesteps: 1_000_000_000,
      overrides: { 'resources.threads': 1 },
    }),
  });
  const { id } = (await response.json()) as { id: string };
  for (const [address, minutes] of [
    [`/runs/${id}`, MINUTES],
    [`/lab?env=LunarLander-v3&run=${id}`, LAB_MINUTES],
  ] as const) {
    const { context, page } = await open(browser, SIZES[0], { storageState: session });
    await watch(page, address);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Performance.enable');
    const heap = async () => {
      await devtools.send('HeapProfiler.collectGarbage');
      const { metrics } = await devtools.send('Performance.getMetrics');
      const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN;
      return Math.round(used / 1e5) / 10;
    };
    const began = await heap();
    await pause(minutes * 60_000);
    const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
    say('live page', {
      address: address.replace(id, 'RUN'),
      minutes,
      charts: await page.locator('.u-over').count(),
      tasks_over_50_ms: tasks.length,
      longest_task_ms: Math.max(0, ...tasks),
      heap_mb_at_first: began,
      heap_mb: await heap(),
    });
    await context.close();
  }
});
