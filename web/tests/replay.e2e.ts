/**
 * The replay theatre in a real browser: finding an episode, playing it, looking into a step,
 * comparing two, and taking a stretch away as a file. The tests build on each other.
 */
import { mkdir, open as openFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { seriousViolations } from './axe';
import { type Complaints, SIZES, close, launch, open, openAsViewer, type Session } from './browser';
import { Lab } from './lab';
import { expectSound, shoot } from './sound';

interface Listed {
  total: number;
  episodes: { episode: number; reward: number; length: number; seed: number }[];
}

const SCREENSHOTS = 'screenshots';
const LONG = 100_000;

let lab: Lab;
let browser: Browser;
let session: Session;
/** A training with a film, and a trainer of somebody else with one very long episode. */
let trained: string;
let foreign: string;
let best: Listed['episodes'][number];

/** A trainer that tells every step of one long episode, and of a short one. */
const TRAINER = `
const say = (line) => lines.push(JSON.stringify(line));
let lines = [];
say({ type: 'config', algo: 'walk', env_id: 'Corridor-v0', seed: 7 });
for (const [id, n] of [['long', ${LONG}], ['short', 30]]) {
  let total = 0;
  for (let step = 1; step <= n; step += 1) {
    const reward = Math.sin(step / 900);
    total += reward;
    const obs = { place: step / n, number: step };
    say({ type: 'step', episode_id: id, step, action: step % 3, reward, obs, terminated: step === n, truncated: false });
  }
  say({ type: 'episode', episode_id: id, steps: n, return: total, seed: 7, terminated: true, truncated: false });
}
process.stdout.write(lines.join('\\n') + '\\n');
`;

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  lab = await Lab.start();
  browser = await launch();
  const { context, page } = await open(browser, SIZES[0]);
  await page.goto(lab.loginUrl);
  await page.waitForURL((url) => url.pathname !== '/login');
  // Before anything was recorded.
  await page.goto(`${lab.origin}/replay`);
  await page.getByText('No episodes yet').waitFor();
  await page.screenshot({ path: `${SCREENSHOTS}/replay-empty-1280-light.png` });
  session = await context.storageState();
  await close(context);

  const script = join(lab.data, 'trainer.mjs');
  await writeFile(script, TRAINER);
  const short = ['--set', 'evaluation.final_episodes=1', '--set', 'evaluation.episodes=1'];
  const train = ['train', 'CartPole-v1', '--steps', '12000', '--seed', '3', '--capture-video'];
  type Made = { run_id: string };
  const exec = ['exec', '--env', 'Corridor-v0', '--name', 'long walk'];
  const data = ['--data', lab.data, '--json', '--', process.execPath, script];
  trained = (await lab.command<Made>(...train, ...short)).run_id;
  foreign = (await lab.bare<Made>(...exec, ...data)).run_id;
  await lab.ended(trained);
  const path = `/api/runs/${trained}/episodes?sort=return&limit=1`;
  best = (await lab.call<Listed>(path)).episodes[0] as typeof best;
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

const theatre = (run: string, episode: number, search = '') =>
  `${lab.origin}/replay/${run}/${episode}${search}`;
const step = (page: Page) => async () =>
  Number((await page.locator('.time b').textContent())?.replaceAll(',', ''));
const search = (page: Page) => () => new URL(page.url()).search;

async function expectFits(page: Page) {
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(over, `sideways scroll at ${page.url()}`).toBeLessThanOrEqual(0);
}

describe.each(SIZES)('at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });
  afterAll(() => close(context));

  test('from the browser to an episode, and back', async () => {
    await page.goto(`${lab.origin}/replay`);
    const shelf = page.locator('.shelf', { hasText: trained });
    await shelf.locator('canvas').first().waitFor();
    await shoot(page, 'replay-browser', size);
    await expectSound(page, complaints);
    await shelf.getByRole('link', { name: 'Show all' }).click();
    await page.waitForURL(`**/replay?run=${trained}`);
    await page.getByRole('button', { name: 'Shortest' }).click();
    await expect.poll(search(page)).toContain('order=shortest');
    const first = page.locator('a.ep').first();
    const number = (await first.locator('i').textContent())?.replace('#', '');
    await first.click();
    await page.waitForURL(`**/replay/${trained}/${number}?order=shortest`);
    await page.getByRole('heading', { name: `Episode ${number}`, exact: true }).waitFor();
    await page.goBack();
    await page.waitForURL((url) => url.pathname === '/replay' && url.searchParams.has('run'));
    expect(complaints.take()).toEqual([]);
  });

  test('playing, stepping and seeking by keys, and the address says where', async () => {
    await page.goto(theatre(trained, best.episode));
    await page.locator('.picture canvas').waitFor();
    await page.getByText('Loading the pictures').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect.poll(search(page)).toBe('?t=2');
    expect(
      await page.getByRole('slider', { name: 'Step', exact: true }).getAttribute('aria-valuetext'),
    ).toMatch(/^Step 2, push (left|right), reward \+1.00$/);
    await page.keyboard.press('End');
    await expect.poll(step(page)).toBe(best.length);
    await page.keyboard.press('Home');
    await expect.poll(step(page)).toBe(0);
    // The keys of boards elsewhere do the same.
    for (const [key, at] of [
      ['j', 1],
      ['Shift+J', 11],
      ['k', 10],
      ['$', best.length],
      ['0', 0],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(step(page)).toBe(at);
    }
    await page.locator('.picture').click({ position: { x: 40, y: 90 } });
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    // Eight times as fast, the end may come before anybody could look.
    await page.getByRole('button', { name: '8×' }).click();
    await expect.poll(step(page), { timeout: 20_000 }).toBe(best.length);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await expect.poll(search(page)).toBe(`?t=${best.length}&speed=8`);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('[');
    await expect.poll(search(page)).toContain(`from=${best.length - 10}`);
    await page.screenshot({ path: `${SCREENSHOTS}/replay-theatre-${size.name}-light.png` });
    // Colours that fade into each other are neither of the two.
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await page.screenshot({ path: `${SCREENSHOTS}/replay-theatre-${size.name}-dark.png` });
    expect(await seriousViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    expect(await seriousViolations(page)).toEqual([]);
    await expectFits(page);
    expect(complaints.take()).toEqual([]);
  });

  test('a step is x-rayed: what the policy thought of its actions, and what it expected', async () => {
    await page.goto(theatre(trained, best.episode, '?t=5'));
    const xray = page.locator('.xray');
    await xray.getByText(/Chose (the|another than the) most likely/).waitFor();
    type Xray = { steps: { step: number; actions: number[]; value: number }[] };
    const asked = `/api/runs/${trained}/episodes/${best.episode}/xray`;
    const thought = (await lab.call<Xray>(asked)).steps.find(({ step }) => step === 5);
    if (!thought) throw new Error('nothing was thought');
    // A bar for each action, as long as it was likely, and they are all that could be done.
    const bars = xray.locator('.prob');
    expect(await bars.count()).toBe(2);
    const shares = await bars
      .locator('.meter')
      .evaluateAll((meters) =>
        meters.map((meter) => Number(getComputedStyle(meter).getPropertyValue('--v'))),
      );
    shares.forEach((share, index) => expect(share).toBeCloseTo(thought.actions[index] ?? NaN, 4));
    expect(shares[0] ?? 0).toBeCloseTo(1 - (shares[1] ?? 0), 4);
    const told = Number((await xray.locator('.fig').first().innerText()).replace('+', ''));
    expect(told).toBeCloseTo(thought.value, 1);
    await xray.getByRole('img', { name: 'Value of the steps around this one' }).waitFor();
    await expectSound(page, complaints);
  });

  test('a policy plays the same seed, side by side', async () => {
    await page.goto(theatre(trained, best.episode, '?t=5'));
    await page.getByRole('button', { name: 'Compare, same seed' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Looking through').waitFor({ state: 'detached' });
    // What one size has made the other finds.
    const twin = dialog.locator('.twin').first();
    if ((await twin.count()) > 0) await twin.click();
    else await dialog.getByRole('button', { name: 'Play', exact: true }).click();
    await page.waitForURL(/vs=r-\w+\/1/);
    await expect.poll(() => page.locator('.picture canvas').count()).toBe(2);
    await expect.poll(() => page.locator('.legend li').count()).toBe(2);
    expect(await step(page)()).toBe(5);
    await page.getByText('Loading the pictures').waitFor({ state: 'detached' });
    // Each has the colour of its run, or, where they share it, strokes of its own.
    const looks = await page
      .locator('.legend path')
      .evaluateAll((lines) =>
        lines.map((line) => [line.getAttribute('stroke'), line.getAttribute('stroke-dasharray')]),
      );
    expect(String(looks[0])).not.toBe(String(looks[1]));
    for (const [color] of looks) expect(color).toMatch(/^var\(--series-\d+\)$/);
    await page.getByRole('button', { name: 'Right', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('xray') === 'right');
    await page.reload();
    await page.getByRole('button', { name: 'Right', exact: true, pressed: true }).waitFor();
    await expect.poll(() => page.locator('.picture canvas').count()).toBe(2);
    await page.screenshot({ path: `${SCREENSHOTS}/replay-compare-${size.name}-light.png` });
    expect(await seriousViolations(page)).toEqual([]);
    await expectFits(page);
    await page.getByRole('button', { name: 'Close the comparison' }).click();
    await expect.poll(() => page.locator('.picture canvas').count()).toBe(1);
    await page.goBack();
    await expect.poll(() => page.locator('.picture canvas').count()).toBe(2);
    expect(complaints.take()).toEqual([]);
  });
});

test.each(SIZES)('a stretch is taken away as a GIF, at $name', async (size) => {
  const { context, page, complaints } = await open(browser, size, { storageState: session });
  await page.goto(theatre(trained, best.episode, '?from=4&to=23'));
  await page.getByText('10 frames, 0.4 s').waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe(`${trained}-episode-${best.episode}-4-23.gif`);
  const bytes = await readFile(await file.path());
  expect(bytes.subarray(0, 6).toString()).toBe('GIF89a');
  await page.getByText('saved as').waitFor();
  // The browser reads what it wrote.
  const shape = await page.evaluate(async (base64) => {
    const binary = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([binary], { type: 'image/gif' }));
    return [picture.width, picture.height];
  }, bytes.toString('base64'));
  expect(shape).toEqual([480, 240]);
  await expectSound(page, complaints);
  await close(context);
});

test.each(SIZES)('a stretch is taken away as an MP4, of just its steps, at $name', async (size) => {
  const { context, page, complaints } = await open(browser, size, { storageState: session });
  await page.goto(theatre(trained, best.episode));
  // Chosen in the fields, as a person does who came for it.
  await page.getByRole('textbox', { name: 'From step' }).fill('4');
  await page.getByRole('textbox', { name: 'To step' }).fill('23');
  await page.keyboard.press('Tab');
  await page.getByRole('group', { name: 'Format' }).getByRole('button', { name: 'MP4' }).click();
  await page.waitForURL((url) => url.searchParams.get('format') === 'mp4');
  const asked = page.waitForRequest((request) => request.url().includes('film.mp4'));
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  expect(new URL((await asked).url()).search).toBe('?from=4&to=24');
  const file = await saved;
  expect(file.suggestedFilename()).toBe(`${trained}-episode-${best.episode}-4-23.mp4`);
  await page.getByText('saved as').waitFor();
  const bytes = await readFile(await file.path());
  expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
  // A browser plays what the lab wrote: a picture for each of the twenty steps, fifty a second. Pages
  // of the lab let no film in that is not from it.
  const elsewhere = await context.newPage();
  const [seconds, width] = await elsewhere.evaluate(async (base64) => {
    const binary = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const video = document.createElement('video');
    video.src = URL.createObjectURL(new Blob([binary], { type: 'video/mp4' }));
    await new Promise((done, failed) => {
      video.onloadeddata = done;
      video.onerror = () => failed(new Error(video.error?.message));
    });
    return [video.duration, video.videoWidth];
  }, bytes.toString('base64'));
  expect(seconds).toBeCloseTo(20 / 50, 1);
  expect(width).toBeGreaterThan(0);
  await expectSound(page, complaints);
  // What fails can be asked for from a shell.
  const problem = { type: 'about:blank', title: 'Busy', status: 503, detail: 'too many films' };
  await page.route('**/film.mp4**', (route) => route.fulfill({ status: 503, json: problem }));
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const box = page.getByRole('alert').filter({ hasText: problem.detail });
  await box.getByRole('button', { name: 'Copy curl' }).waitFor();
  await box.getByRole('button', { name: 'Try again' }).waitFor();
  await page.unroute('**/film.mp4**');
  expect(complaints.take(/\b503\b/)).toEqual([]);
  await close(context);
});

test('the film of a run plays in place', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(theatre(trained, 1));
  await page.getByRole('button', { name: 'Play video' }).click();
  const seconds = () => page.locator('video').evaluate((video: HTMLVideoElement) => video.duration);
  await expect.poll(seconds).toBeGreaterThan(0.2);
  await page.getByRole('button', { name: 'Close' }).click();
  expect(await page.locator('video').count()).toBe(0);
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test('of 100,000 steps only those around the playhead are fetched', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  const windows: number[] = [];
  page.on('request', (request) => {
    const asked = new URL(request.url()).searchParams;
    if (asked.get('scenes') === 'true') windows.push(Number(asked.get('from')));
    if (asked.has('to')) {
      expect(Number(asked.get('to')) - Number(asked.get('from'))).toBeLessThanOrEqual(2000);
    }
  });
  await page.goto(theatre(foreign, 1, '?t=60000'));
  await page.locator('.told dd', { hasText: '60000' }).waitFor();
  const pictures = windows.filter((from) => from > 100 && from < 70_000);
  expect(pictures.sort((a, b) => a - b)).toEqual([60_000, 60_100]);
  await page.keyboard.press('End');
  await page.locator('.told dd', { hasText: String(LONG) }).waitFor();
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'Max' }).click();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect.poll(step(page)).toBeGreaterThan(1000);
  await page.keyboard.press('ArrowLeft');
  await page.getByText('has no pictures').first().waitFor();
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test('an episode that a person played is seen again', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(`${lab.origin}/play`);
  await page.locator('label', { has: page.getByText('Cart Pole', { exact: true }) }).click();
  await page.getByRole('button', { name: 'New game' }).click();
  await page.waitForURL('**/play/environments/*');
  await expect.poll(() => page.locator('.status').textContent()).toBe('Ready');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => page.locator('.status').textContent(), { timeout: 20_000 }).toBe('Over');
  const length = Number(await page.locator('.badge .step').textContent());
  await page.getByRole('link', { name: 'Watch again' }).click();
  await page.waitForURL('**/replay/*/1');
  await page.keyboard.press('End');
  await expect.poll(step(page)).toBe(length);
  await page.getByText('the pole fell', { exact: false }).first().waitFor();
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test.each(SIZES)('a run without episodes says what can be done, at $name', async (size) => {
  const { context, page, complaints } = await open(browser, size, { storageState: session });
  await page.route(`**/api/runs/${trained}/episodes?*`, async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as object;
    await route.fulfill({ response, json: { ...json, episodes: [], total: 0, next_cursor: null } });
  });
  await page.goto(`${lab.origin}/replay?run=${trained}`);
  await page.getByText('No episode of it was recorded.').waitFor();
  const command = page.getByRole('group', { name: 'Command' });
  expect(await command.textContent()).toContain(`/api/runs/${trained}/evaluate`);
  await shoot(page, 'replay-no-episodes', size);
  await expectSound(page, complaints);
  await page.getByRole('link', { name: 'Evaluate its policy' }).click();
  await page.waitForURL(`**/evaluations?new=policy&run=${trained}`);
  await close(context);
});

test.each(SIZES)('what people play is in the theatre, on boards too, at $name', async (size) => {
  const { context, page, complaints } = await open(browser, size, { storageState: session });
  await page.goto(`${lab.origin}/play?game=tictactoe&opponent=builtin:random`);
  await page.getByRole('button', { name: 'New game' }).click();
  await page.waitForURL(/\/play\/r-/);
  const game = page.url().split('/').at(-1) as string;
  await page.getByText('Your move').waitFor();
  const moves = () => page.locator('.moves li').count();
  while ((await page.locator('.result').count()) === 0) {
    const before = await moves();
    await page.locator('.board button[aria-disabled="false"]').first().click();
    await expect.poll(moves).toBeGreaterThan(before);
  }
  const played = await moves();
  await page.getByRole('link', { name: 'Watch again' }).click();
  await page.waitForURL(`**/replay/${game}/1`);
  await page.locator('.picture canvas').waitFor();
  await page.keyboard.press('End');
  await expect.poll(step(page)).toBe(played);
  await shoot(page, 'replay-board', size);
  await expectSound(page, complaints);
  // A session and a game are on the shelves, and in the table of runs.
  const { sessions } = await lab.call<{ sessions: { id: string }[] }>('/api/play/environments');
  const seat = sessions[0]?.id as string;
  await page.goto(`${lab.origin}/replay`);
  for (const id of [game, seat]) {
    const shelf = page.locator('.shelf', { hasText: id });
    await shelf.scrollIntoViewIfNeeded();
    await shelf.locator('a.ep canvas').first().waitFor();
  }
  await page.goto(`${lab.origin}/runs?kind=human`);
  for (const id of [game, seat]) await page.getByText(id).first().waitFor();
  expect(await page.getByText(trained).count()).toBe(0);
  await expectSound(page, complaints);
  await close(context);
});

test.each(SIZES)('whoever may only look cannot let a policy play, at $name', async (size) => {
  const { context, page, complaints } = await openAsViewer(browser, lab, size);
  await page.goto(theatre(trained, best.episode));
  await page.getByRole('button', { name: 'Compare, same seed' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByRole('button', { name: 'Play', exact: true }).isDisabled()).toBe(true);
  await dialog.getByText("is a viewer's; this needs an operator's").waitFor();
  await expectSound(page, complaints);
  await close(context);
});

test('damaged episodes say so, and all others play', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  // A flipped byte in the middle of what the long episode told.
  const path = join(lab.data, 'runs', foreign, 'episodes', '000001.seg');
  const file = await openFile(path, 'r+');
  const { size } = await file.stat();
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, size >> 1);
  await file.write(Buffer.from([(byte[0] as number) ^ 0xff]), 0, 1, size >> 1);
  await file.close();
  await page.goto(theatre(foreign, 2, '?t=30'));
  await page.locator('.told dd', { hasText: '30' }).waitFor();
  await page.goto(theatre(foreign, 1, `?t=${LONG / 2}`));
  await page.getByText('damaged').first().waitFor();
  await page.screenshot({ path: `${SCREENSHOTS}/replay-damaged-1280-light.png` });
  expect(await seriousViolations(page)).toEqual([]);
  expect(complaints.take(/\b409\b/)).toEqual([]);
  await close(context);
});

test('what is not there says so and leads back', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(theatre(trained, 999_999));
  await page.getByText(`Run ${trained} has no episode 999999`).waitFor();
  await page.getByRole('link', { name: 'All episodes' }).click();
  await page.waitForURL('**/replay');
  await page.goto(`${lab.origin}/replay?run=r-000000`);
  await page.getByText('There is no run r-000000').waitFor();
  expect(complaints.take(/\b404\b/)).toEqual([]);
  await close(context);
});
