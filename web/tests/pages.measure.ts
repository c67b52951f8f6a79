/**
 * How heavy and how quick the pages are, in a real browser with the real binary.
 *
 * Every page is opened in a fresh browser profile: what it loads, gzipped, and when something is
 * first painted; and what has been loaded when it was left untouched for ten seconds, in case it went
 * on to fetch the pages that nobody asked for. A run of a million rows of eight metrics is opened until all its charts are drawn,
 * in a fresh profile and once more in one that has seen the app.
 * Then a list of ten thousand runs is scrolled through: how long frames take.
 * A run page then follows a training for MINUTES (30), and the lab page for a few, tall enough for the
 * charts and the feed at once: tasks that held the page for more than 50 ms once it was open, each
 * with what it was, and the heap at the end, after a collection. On two cores the training, the lab and
 * the browser's own helpers want the same time, and a task that waits for its turn is as long as one
 * that works: with FIRST=1, for which one must be root, the page goes before them, so that what is
 * measured is its own work.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { SIZES, launch, logIn, open, type Session } from './browser';
import { Lab, pause } from './lab';

const MINUTES = Number(process.env.MINUTES ?? 30);
const LAB_MINUTES = Math.min(Number(process.env.LAB_MINUTES ?? 5), MINUTES);
const FIRST = Boolean(process.env.FIRST);
const ROWS = Number(process.env.ROWS ?? 1_000_000);
const LOADS = 5;
/** How long a page that was opened is left alone. */
const UNTOUCHED_MS = 10_000;
const LONG = 'r-000001';
const SECONDS_A_ROW = 0.0137;
/** Between two heartbeats. */
const BEAT_S = 5;
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
/** All of a run's page at once: its charts and its picture. */
const TALL = { name: 'tall', width: 1280, height: 2400 } as const;
/** Fewer would be another page than the one that is measured. */
const LEAST_CHARTS = 8;
const MANY_RUNS = 10_000;
/** As a `nice` value. */
const PRIORITY = -15;

let lab: Lab;
let browser: Browser;
let session: Session;
let trained: string;

beforeAll(async () => {
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
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

/**
 * Opens an address in a fresh profile; the files of the app that it asked for at first and while it
 * was left alone for so long, and its first paint.
 */
async function load(
  address: string,
  alone_ms: number,
): Promise<{ files: string[]; later: string[]; paint: number }> {
  // Whoever is logged in is led on from there.
  const known = address === '/login' ? {} : { storageState: session };
  const { context, page } = await open(browser, SIZES[0], known);
  const files: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/api/')) files.push(request.url());
  });
  await page.goto(lab.origin + address);
  await page.locator('#main').waitFor();
  // What comes after this is the code of other pages.
  const needed = files.slice();
  await pause(alone_ms);
  const later = files.slice();
  const paint = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
  );
  await context.close();
  return { files: needed, later, paint };
}

/** Makes something in the lab. */
async function make<T extends object>(path: string, body: object): Promise<T> {
  const response = await fetch(lab.origin + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await lab.token()}`,
      'idempotency-key': crypto.randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as T;
}

async function gzipped(url: string): Promise<number> {
  const response = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  await response.body?.cancel();
  return Number(response.headers.get('content-length'));
}

/** All of some files, each once, in kilobytes. */
async function weigh(urls: readonly string[]): Promise<number> {
  const sizes = await Promise.all([...new Set(urls)].map(gzipped));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 100) / 10;
}

/** Something of everything that has a page of its own. */
async function makeOneOfEach(): Promise<string[]> {
  type Made = { id: string };
  const [random, other] = ['builtin:random', 'builtin:alphabeta:1'];
  const at = { game: 'tictactoe' };
  const game = await make<Made>('/api/play', { ...at, opponent: 'builtin:random', side: 'first' });
  const played = await make<Made>('/api/play/environments', { env_id: 'CartPole-v1', seed: 1 });
  const config = { env_id: 'CartPole-v1', algo: 'ppo' };
  const template = await make<Made>('/api/experiments', { name: 'Measured', config });
  const match = { ...at, model_a: random, model_b: other, n_matches: 2 };
  const evaluation = await make<Made>('/api/evals', { ...match, seed_plan: { seed_base: 0 } });
  const tournament = { ...at, players: [random, other], games_per_pair: 2 };
  const contest = await make<Made>('/api/tournaments', tournament);
  await make('/api/models', { name: 'measured', run_id: trained });
  for (const { id } of [evaluation, contest]) await lab.ended(id);
  return [
    `/play/${game.id}`,
    `/play/environments/${played.id}`,
    `/experiments/${template.id}`,
    `/evaluations/${evaluation.id}`,
    `/tournaments/${contest.id}`,
    '/models/measured',
  ];
}

test('every page: weight and first paint', async () => {
  const one = await makeOneOfEach();
  for (const address of [
    '/login',
    '/',
    '/?kiosk=1',
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
    ...one,
    '/nowhere',
  ]) {
    const first = await load(address, UNTOUCHED_MS);
    const loads = [first];
    while (loads.length < LOADS) loads.push(await load(address, 500));
    say('page', {
      address: address
        .replace(trained, 'RUN')
        .replace(one.includes(address) ? /[a-z]+-\w{6,}$/ : /$^/, 'ID'),
      files: new Set(first.files).size,
      gzip_kb: await weigh(first.files),
      untouched_s: UNTOUCHED_MS / 1000,
      untouched_gzip_kb: await weigh(first.later),
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
    lines += `${JSON.stringify({ attempt: 1, row, t: t0 + row * SECONDS_A_ROW, step: row * 8, values })}\n`;
    if (row % 5000 === 0 || row === ROWS) {
      if (!metrics.write(lines)) await once(metrics, 'drain');
      lines = '';
    }
  }
  metrics.end();
  await once(metrics, 'finish');
  const seconds = ROWS * SECONDS_A_ROW;
  const beats = Array.from({ length: Math.floor(seconds / BEAT_S) }, (_, n) => ({
    ...{ t: t0 + n * BEAT_S, type: 'heartbeat' },
    ...{ cpu_percent: 190 + Math.random(), rss_bytes: 1e8 + n },
  }));
  const events = [
    { t: t0, type: 'started', supervisor_pid: 1, trainer_pid: 2 },
    ...beats,
    { t: t0 + seconds, type: 'exited', code: 0, signal: null, log: [] },
  ];
  const told = events.map((event) => JSON.stringify({ attempt: 1, ...event }));
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

test('ten thousand runs scrolled through', async () => {
  const PAGE = 500;
  type Listed = Record<string, unknown>;
  const like = await lab.call<Listed>(`/api/runs/${trained}`);
  const { context, page } = await open(browser, SIZES[0], { storageState: session });
  await page.route('**/api/runs?**', (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const runs = Array.from({ length: PAGE }, (_, index): Listed => {
      const n = from + index;
      const created_at = new Date(Date.UTC(2020, 0, 1) - n * 1000).toISOString();
      return { ...like, id: `r-n${n}`, name: `Run number ${n}`, step: n, created_at };
    });
    const next_cursor = from + PAGE < MANY_RUNS ? String(from + PAGE) : null;
    return route.fulfill({ json: { runs, next_cursor } });
  });
  await page.goto(`${lab.origin}/runs`);
  await page
    .getByRole('status')
    .filter({ hasText: /^10,\d{3}$/ })
    .waitFor({ timeout: 60_000 });
  await pause(SETTLE_MS);
  const frames = await page.locator('.scroll').evaluate(async (box) => {
    const FRAMES = 600;
    const taken: number[] = [];
    let before = await new Promise(requestAnimationFrame);
    for (let frame = 1; frame <= FRAMES; frame += 1) {
      box.scrollTo({ top: ((box.scrollHeight - box.clientHeight) * frame) / FRAMES });
      const now = await new Promise(requestAnimationFrame);
      taken.push(now - before);
      before = now;
    }
    return taken;
  });
  say('many runs', {
    rows: MANY_RUNS,
    frames: frames.length,
    median_frame_ms: Math.round(10 * median(frames)) / 10,
    worst_frame_ms: Math.round(10 * Math.max(...frames)) / 10,
  });
  await context.close();
});

/** A task that held a page for long, and what the browser says that it was. */
interface LongTask {
  at_ms: number;
  ms: number;
  /** Whose it was: `self`, or `unknown` for what the browser does by itself. */
  whose: string;
  /** Scripts of the frame that the task was part of, the longest first. */
  scripts: {
    invoker: string;
    function: string;
    source: string;
    ms: number;
    forced_layout_ms: number;
  }[];
  /** Of that frame: all of it, and styles, layout and paint after the scripts. */
  frame_ms: number | null;
  rendering_ms: number | null;
}

/** What a browser tells of long frames; TypeScript knows it not yet. */
interface LongFrame extends PerformanceEntry {
  renderStart: number;
  scripts: {
    invoker: string;
    sourceFunctionName: string;
    sourceURL: string;
    sourceCharPosition: number;
    duration: number;
    forcedStyleAndLayoutDuration: number;
  }[];
}

/** Frames of live pictures that a page has been sent, counted as they come. */
function countFrames(page: Page): { open: number; came: number } {
  const counted = { open: 0, came: 0 };
  page.on('websocket', (socket) => {
    if (!/\/frames\?/.test(socket.url())) return;
    counted.open += 1;
    socket.on('framereceived', () => (counted.came += 1));
    socket.on('close', () => (counted.open -= 1));
  });
  return counted;
}

/** Whether something is drawn in the feed: more than one colour. */
const isDrawn = (page: Page) =>
  page.locator('.feed canvas').evaluate((canvas: HTMLCanvasElement) => {
    const { width, height } = canvas;
    const data = canvas.getContext('2d')?.getImageData(0, 0, width, height).data;
    const pixels = new Uint32Array(data?.buffer ?? new ArrayBuffer(0));
    return pixels.some((pixel) => pixel !== pixels[0]);
  });

/** Opens a page and waits until all of it is there, then notes every task that holds it for long. */
async function watch(page: Page, address: string): Promise<void> {
  await page.goto(lab.origin + address);
  await page.locator('.feed canvas').waitFor();
  await expect.poll(() => isDrawn(page), { timeout: 60_000 }).toBe(true);
  await pause(SETTLE_MS);
  await page.evaluate(() => {
    const seen = { tasks: [] as PerformanceEntry[], frames: [] as PerformanceEntry[] };
    (window as unknown as { seen: typeof seen }).seen = seen;
    const note = (type: string, into: PerformanceEntry[]) =>
      new PerformanceObserver((list) => void into.push(...list.getEntries())).observe({ type });
    note('longtask', seen.tasks);
    note('long-animation-frame', seen.frames);
  });
}

/** Lets the processes of pages go before all others of the machine. */
async function goFirst(): Promise<void> {
  const devtools = await browser.newBrowserCDPSession();
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  const pages = processInfo.filter(({ type }) => type === 'renderer');
  expect(pages.length).toBeGreaterThan(0);
  for (const { id } of pages) setPriority(id, PRIORITY);
}

/** The long tasks since then. */
async function longTasks(page: Page): Promise<LongTask[]> {
  return page.evaluate(() => {
    type Seen = { tasks: PerformanceEntry[]; frames: LongFrame[] };
    const { tasks, frames } = (window as unknown as { seen: Seen }).seen;
    const round = (ms: number) => Math.round(10 * ms) / 10;
    return tasks.map((task) => {
      const end = task.startTime + task.duration;
      const frame = frames.find(
        ({ startTime, duration }) => startTime < end && task.startTime < startTime + duration,
      );
      return {
        at_ms: Math.round(task.startTime),
        ms: round(task.duration),
        whose: task.name,
        scripts: (frame?.scripts ?? [])
          .map((script) => ({
            invoker: script.invoker,
            function: script.sourceFunctionName,
            source: `${script.sourceURL.split('/').at(-1)}:${script.sourceCharPosition}`,
            ms: round(script.duration),
            forced_layout_ms: round(script.forcedStyleAndLayoutDuration),
          }))
          .sort((a, b) => b.ms - a.ms),
        frame_ms: frame ? round(frame.duration) : null,
        rendering_ms: frame?.renderStart
          ? round(frame.startTime + frame.duration - frame.renderStart)
          : null,
      };
    });
  });
}

test('pages that follow a training', async () => {
  const { id } = await make<{ id: string }>('/api/runs', {
    env_id: 'LunarLander-v3',
    algorithm: 'ppo',
    total_timesteps: 1_000_000_000,
    overrides: { 'resources.threads': 1 },
  });
  for (const [address, minutes] of [
    [`/runs/${id}`, MINUTES],
    [`/lab?env=LunarLander-v3&run=${id}`, LAB_MINUTES],
  ] as const) {
    const { context, page } = await open(browser, TALL, { storageState: session });
    const pictures = countFrames(page);
    await watch(page, address);
    if (FIRST) await goFirst();
    // All that updates is in the view: charts, the picture, and what it is sent.
    const charts = await page.locator('.u-over').count();
    if (address.startsWith('/runs/')) expect(charts).toBeGreaterThanOrEqual(LEAST_CHARTS);
    expect(pictures.open).toBeGreaterThan(0);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Performance.enable');
    const heap = async () => {
      await devtools.send('HeapProfiler.collectGarbage');
      const { metrics } = await devtools.send('Performance.getMetrics');
      const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN;
      return Math.round(used / 1e5) / 10;
    };
    const before = await heap();
    // The collection was our own.
    await page.evaluate(() => {
      const { seen } = window as unknown as { seen: Record<string, unknown[]> };
      for (const list of Object.values(seen)) list.length = 0;
    });
    const came = pictures.came;
    await pause(minutes * 60_000);
    // Entries are handed to observers some time after what they tell of.
    await page.waitForTimeout(1_000);
    const tasks = await longTasks(page);
    expect(pictures.open).toBeGreaterThan(0);
    expect(pictures.came).toBeGreaterThan(came);
    say('live page', {
      address: address.replace(id, 'RUN'),
      minutes,
      page_goes_first: FIRST,
      charts: await page.locator('.u-over').count(),
      pictures_per_s: Math.round((10 * (pictures.came - came)) / (minutes * 60)) / 10,
      tasks_over_50_ms: tasks.length,
      longest_task_ms: Math.max(0, ...tasks.map(({ ms }) => ms)),
      heap_mb_at_first: before,
      heap_mb: await heap(),
    });
    for (const task of tasks) say('long task', { address: address.replace(id, 'RUN'), ...task });
    await context.close();
  }
});
