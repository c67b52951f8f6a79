/**
 * What a person does, in a real browser with the real binary: log in, train, watch, stop, play.
 * The tests build on each other and run in order.
 */
import { mkdir } from 'node:fs/promises';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { seriousViolations } from './axe';
import {
  AWAY,
  type Complaints,
  SIZES,
  type Session,
  close,
  launch,
  loadedAhead,
  open,
} from './browser';
import { Lab, pause } from './lab';
import { expectSound, shoot } from './sound';

const SCREENSHOTS = 'screenshots';
const SOLVED = 475;

let lab: Lab;
let browser: Browser;
let session: Session;
/** A run that went to its end; the pages after it are looked at with its data. */
let solved: string;

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  lab = await Lab.start();
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

/** The number that an element shows, `NaN` while it shows none. */
async function figure(page: Page, selector: string): Promise<number> {
  const text = (await page.locator(selector).first().textContent()) ?? '';
  return Number.parseFloat(text.replaceAll(',', ''));
}

/** Waits until a figure passes a bound. */
async function rises(
  read: () => Promise<number>,
  above: number,
  withinMs: number,
): Promise<number> {
  const deadline = Date.now() + withinMs;
  let value = NaN;
  while (Date.now() < deadline) {
    value = await read();
    if (value > above) return value;
    await pause(150);
  }
  throw new Error(`still ${value} after ${withinMs} ms, not above ${above}`);
}

const meanReward = (page: Page) => () => figure(page, '.metric .v');

async function expectNoSidewaysScroll(page: Page) {
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(over, `sideways scroll at ${page.url()}`).toBeLessThanOrEqual(0);
}

/** Nothing that axe calls serious, in either theme. */
async function expectUsable(page: Page) {
  for (const colorScheme of ['dark', 'light'] as const) {
    // Colours that fade into each other are neither of the two.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await seriousViolations(page), `${colorScheme} ${page.url()}`).toEqual([]);
  }
}

/** Starts a run from the lab page's form and waits until the page shows it. */
async function train(page: Page, size: { width: number }, totalTimesteps: string): Promise<string> {
  await page.goto(`${lab.origin}/lab`);
  const before = new URL(page.url()).searchParams.get('run');
  if (size.width < 1120) await page.locator('.setup > summary').click();
  await page.getByLabel('Total timesteps').fill(totalTimesteps);
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await page.waitForURL((url) => {
    const run = url.searchParams.get('run');
    return run !== null && run !== before;
  });
  return new URL(page.url()).searchParams.get('run') as string;
}

async function stop(page: Page) {
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Press again to stop' }).click();
}

describe('logging in', () => {
  test('the printed URL logs in, once', async () => {
    const { context, page, complaints } = await open(browser, SIZES[0]);
    const url = lab.loginUrl;
    await page.goto(url);
    await page.getByRole('heading', { name: 'Nothing is playing' }).waitFor();
    expect(page.url()).toBe(`${lab.origin}/`);
    session = await context.storageState();
    expect(complaints.take()).toEqual([]);
    await close(context);

    const second = await open(browser, SIZES[0]);
    await second.page.goto(url);
    await second.page.getByText('has been used before').waitFor();
    await second.page.screenshot({ path: `${SCREENSHOTS}/login-used-1280-light.png` });
    await close(second.context, /\b401\b/);
  });

  test.each(SIZES)(
    'at $name every page leads to the login, and the token gets in',
    async (size) => {
      const { context, page, complaints } = await open(browser, size);
      await page.goto(`${lab.origin}/runs?q=cart`);
      await page.getByLabel('Or paste the token').fill('not the token');
      await expectUsable(page);
      await shoot(page, 'login', size);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('not the token of this lab').waitFor();
      await page.getByLabel('Or paste the token').fill(await lab.token());
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL('**/runs?q=cart');
      expect(complaints.take(/\b401\b/)).toEqual([]);
      await close(context);
    },
  );
});

describe('before anything is trained', () => {
  test.each(SIZES)('the empty pages at $name', async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/lab`);
    await page.getByText('Random policy').waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}/lab-empty-${size.name}-light.png` });
    await page.goto(`${lab.origin}/runs`);
    await page.getByText('No runs yet').waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}/runs-empty-${size.name}-light.png` });
    await page.getByRole('link', { name: 'What people have played' }).click();
    await page.waitForURL('**/runs?kind=human');
    await page.getByText('Nobody has played yet').waitFor();
    const next = page.locator('main').getByRole('link', { name: 'Play', exact: true });
    expect(await next.getAttribute('href')).toBe('/play');
    await page.screenshot({ path: `${SCREENSHOTS}/runs-human-empty-${size.name}-light.png` });
    await expectNoSidewaysScroll(page);
    expect(complaints.take()).toEqual([]);
    await close(context);
  });
});

describe.each(SIZES)('training at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });
  afterAll(() => close(context));

  test('a wrong number is refused at its field and nothing starts', async () => {
    await page.goto(`${lab.origin}/lab`);
    if (size.width < 1120) await page.locator('.setup > summary').click();
    await page.getByLabel('Learning rate').fill('5');
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    await page.getByText('From 0.000001 to 1.').waitFor();
    expect(new URL(page.url()).searchParams.get('run')).toBeNull();
    expect(complaints.take()).toEqual([]);
  });

  test('TRAIN tells of a wrong setting that is folded away, and goes to it', async () => {
    const discount = page.getByLabel('Discount', { exact: true });
    await page.goto(`${lab.origin}/lab?set=trainer.gamma=2`);
    if (size.width < 1120) await page.locator('.setup > summary').click();
    // Where a link brings a wrong one along, it is in sight.
    await discount.waitFor();
    await page.getByText('more, 1 changed').click();
    await discount.waitFor({ state: 'hidden' });
    if (size.width < 1120) await page.locator('.setup > summary').click();
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    const said = page.getByRole('alert').filter({ hasText: '1 setting is wrong' });
    await said.waitFor();
    await expect
      .poll(() => discount.evaluate((field) => field === document.activeElement))
      .toBe(true);
    await shoot(page, 'lab-wrong-setting', size);
    await discount.fill('0.95');
    await discount.blur();
    await said.waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('run')).toBeNull();
    expect(complaints.take()).toEqual([]);
  });

  test('TRAIN starts a run, figures and curves move, STOP ends it', async () => {
    const id = await train(page, size, '50,000,000');
    const early = await rises(meanReward(page), 0, 30_000);
    // Late to look, the first reading may be near the most that there is.
    await rises(meanReward(page), Math.min(450, Math.max(60, early * 1.5)), 60_000);
    await page
      .locator('.log li', { hasText: /Checkpoint/ })
      .first()
      .waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}/lab-training-${size.name}-light.png` });

    await page.getByRole('link', { name: id }).click();
    await page.waitForURL(`**/runs/${id}`);
    const points = async () => {
      const label = await page
        .getByRole('img', { name: /^Mean return/ })
        .getAttribute('aria-label');
      return Number(/(\d+) points/.exec(label ?? '')?.[1] ?? NaN);
    };
    const first = await rises(points, 1, 30_000);
    await rises(points, first + 2, 30_000);
    const step = await figure(page, '.facts dd');
    await rises(() => figure(page, '.facts dd'), step, 30_000);

    await expectSound(page, complaints);
    await stop(page);
    await page.locator('.badge', { hasText: 'terminated' }).waitFor({ timeout: 30_000 });
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
    await expectSound(page, complaints);
  });

  test('dragging over a chart zooms all of them and lets go of FOLLOW', async () => {
    const follow = page.getByRole('button', { name: 'Follow' });
    const chart = page.locator('.u-over').first();
    // On a phone the word that the run stops lies over the chart, and stays under a pointer.
    // It leaves by itself, too, and those behind it move up.
    const words = page.getByRole('button', { name: 'Dismiss' });
    while ((await words.count()) > 0)
      await words
        .first()
        .click({ timeout: 1_000 })
        .catch(() => undefined);
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    if (!box) throw new Error('no chart');
    const middle = box.y + box.height / 2;
    await chart.evaluate((element) => (element.dataset.mine = ''));
    await page.mouse.move(box.x + box.width * 0.3, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 });
    await page.mouse.up();
    const following = () => follow.getAttribute('aria-pressed');
    await expect.poll(following).toBe('false');
    await page.waitForURL(/range=/);
    // The same chart, so that a pointer that rests on it is not forgotten.
    expect(await chart.getAttribute('data-mine')).toBe('');
    // The crosshair is one for all charts in the view: every title shows the value under it.
    await page.mouse.move(box.x + box.width * 0.5, middle);
    const least = size.width > 719 ? 5 : 1;
    await expect.poll(() => page.locator('.chart .at').count()).toBeGreaterThan(least);
    await page.screenshot({ path: `${SCREENSHOTS}/run-zoom-${size.name}-light.png` });
    await page.mouse.dblclick(box.x + box.width * 0.5, middle);
    await expect.poll(following).toBe('true');
    expect(complaints.take()).toEqual([]);
  });

  test('axis and smoothing are kept in the address', async () => {
    await page.getByRole('button', { name: 'Relative' }).click();
    await page.getByLabel('Smoothing').fill('0.9');
    await expect.poll(() => page.url()).toMatch(/x=relative.*smooth=0\.9/);
    await page.reload();
    await page.getByRole('button', { name: 'Relative', pressed: true }).waitFor();
    expect(complaints.take()).toEqual([]);
  });
});

test('the TRAIN button solves CartPole within a minute', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  const pressed = Date.now();
  solved = await train(page, SIZES[0], '1,000,000');
  await page.goto(`${lab.origin}/runs/${solved}`);
  await page.locator('.badge', { hasText: 'succeeded' }).waitFor({ timeout: 60_000 });
  expect(Date.now() - pressed).toBeLessThan(60_000);
  await page.goto(`${lab.origin}/lab?env=CartPole-v1&run=${solved}`);
  const mean = await figure(page, 'section[aria-label="Evaluation"] .figure');
  expect(mean).toBeGreaterThanOrEqual(SOLVED);
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test('a trainer that dies leaves a failed run that says why', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  const id = await train(page, SIZES[0], '50,000,000');
  await page.goto(`${lab.origin}/runs/${id}`);
  await rises(() => figure(page, '.facts dd'), 0, 30_000);
  await lab.killTrainer(id);
  await page.locator('.badge', { hasText: 'failed' }).waitFor({ timeout: 30_000 });
  await page.getByRole('alert').getByText('signal 9').first().waitFor();
  await page.screenshot({ path: `${SCREENSHOTS}/run-failed-1280-light.png` });
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test.each(SIZES)(
  'a page opened while the lab is away says so and comes back, at $name',
  async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/lab`);
    await page.getByText('LIVE', { exact: true }).waitFor();
    await loadedAhead(page);
    await lab.kill();
    await page.getByText('RECONNECTING').waitFor();
    await page.getByRole('link', { name: 'Runs' }).first().click();
    await page.getByText('The lab does not answer').waitFor();
    await expectUsable(page);
    await expectNoSidewaysScroll(page);
    await page.screenshot({ path: `${SCREENSHOTS}/away-${size.name}-light.png` });
    await lab.up();
    await page.getByRole('heading', { name: 'Runs' }).waitFor({ timeout: 30_000 });
    await page.getByText('LIVE', { exact: true }).waitFor({ timeout: 30_000 });
    expect(complaints.take(AWAY)).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await expectSound(page, complaints);
    await close(context);
  },
);

test.each(SIZES)(
  'the lab is killed and started again while it trains: the page goes on, at $name',
  async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    const id = await train(page, size, '50,000,000');
    await page.goto(`${lab.origin}/runs/${id}`);
    await rises(() => figure(page, '.facts dd'), 0, 30_000);
    expect(complaints.take()).toEqual([]);

    await lab.kill();
    await page.getByText('RECONNECTING').waitFor();
    await expectUsable(page);
    await expectNoSidewaysScroll(page);
    const step = await figure(page, '.facts dd');
    await lab.up();
    await page.getByText('LIVE', { exact: true }).waitFor({ timeout: 30_000 });
    await rises(() => figure(page, '.facts dd'), step, 30_000);
    expect(complaints.take(AWAY)).toEqual([]);

    await stop(page);
    const ended = page.locator('.badge', { hasText: 'terminated' });
    await ended.waitFor({ timeout: 30_000 });
    expect(complaints.take()).toEqual([]);
    // Axe has looked at this page while the lab was away, and would read its styles again.
    await page.reload();
    await ended.waitFor();
    await expectSound(page, complaints);
    await close(context);
  },
);

describe.each(SIZES)('playing at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });
  afterAll(() => close(context));

  const over = (of: Page) => of.locator('.result').count();
  const moves = (of: Page) => of.locator('.moves li').count();

  test('a game by keyboard alone, from the page load to the end', async () => {
    await page.goto(`${lab.origin}/play?game=tictactoe`);
    await page.getByRole('button', { name: 'New game' }).waitFor();
    for (let tabs = 0; tabs < 40; tabs += 1) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate(() => document.activeElement?.textContent?.trim())) === 'New game') {
        break;
      }
    }
    await page.keyboard.press('Enter');
    await page.waitForURL('**/play/*');
    await page.getByText('Your move').waitFor();

    // The centre by arrows and Enter, the rest by digits.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await expect.poll(() => moves(page)).toBe(2);
    for (let digit = 1; digit <= 9 && !(await over(page)); digit += 1) {
      const before = await moves(page);
      const free = await page
        .locator('.board button')
        .nth(digit - 1)
        .getAttribute('aria-disabled');
      if (free === 'true') continue;
      await page.keyboard.press(String(digit));
      await expect.poll(() => moves(page)).toBeGreaterThan(before);
    }
    await page.locator('.result').waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('New game');

    const finished = page.url();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.href !== finished);
    await page.getByText('Your move').waitFor();
    expect(complaints.take()).toEqual([]);
  });

  test('a game by clicks, going second against the random player', async () => {
    await page.goto(`${lab.origin}/play?game=tictactoe`);
    await page.locator('label', { hasText: 'Random mover' }).click();
    await page.getByRole('button', { name: 'Second' }).click();
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await page.getByText('Your move').waitFor();
    expect(await page.locator('.who').first().textContent()).toBe('Random mover');
    expect(await moves(page)).toBe(1);
    while (!(await over(page))) {
      const before = await moves(page);
      await page.locator('.board button[aria-disabled="false"]').first().click();
      await expect.poll(() => moves(page)).toBeGreaterThan(before);
    }
    expect(await page.locator('.turn').textContent()).toMatch(/You won|You lost|A draw/);
    expect(complaints.take()).toEqual([]);
  });

  test('Othello by clicks: what is legal is offered, and discs turn', async () => {
    await page.goto(`${lab.origin}/play`);
    await page.locator('label', { hasText: 'Othello' }).click();
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await page.getByText('Your move').waitFor();
    const open = page.locator('.board button[aria-disabled="false"]');
    expect(await open.count()).toBe(4);
    await open.first().click();
    await expect.poll(() => moves(page)).toBeGreaterThanOrEqual(2);
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.locator('.board button.hint').click();
    await expect.poll(() => moves(page)).toBeGreaterThanOrEqual(4);
    await page.getByRole('button', { name: 'Take back' }).click();
    await expect.poll(() => moves(page)).toBe(2);
    expect(complaints.take()).toEqual([]);
  });

  test('a level, a hint and a take-back by keys, and the result says so', async () => {
    await page.goto(`${lab.origin}/play`);
    await page.locator('label', { hasText: 'Connect 4' }).click();
    await page.getByRole('button', { name: 'Built in' }).click();
    await page.locator('label', { has: page.getByText('Beginner', { exact: true }) }).click();
    await page.keyboard.press('n');
    await page.waitForURL('**/play/*');
    await page.getByText('Your move').waitFor();
    await page.locator('.opp .badge', { hasText: 'Beginner' }).waitFor();
    await page.locator('.opp', { hasText: 'The weakest level.' }).waitFor();
    expect(await page.getByRole('button', { name: 'Take back' }).isDisabled()).toBe(true);

    // The middle wins, says who knows, on the board and in words.
    await page.keyboard.press('h');
    await page.getByText('Perfect play would play column 4: wins in 21.').waitFor();
    await page.locator('.board button.hint').waitFor();
    expect(await page.locator('.board button.hint').getAttribute('aria-label')).toMatch(
      /column 4.*, hint$/i,
    );
    await page.screenshot({ path: `${SCREENSHOTS}/game-hint-${size.name}-light.png` });
    await page.keyboard.press('4');
    await expect.poll(() => moves(page)).toBe(2);
    expect(await page.locator('.board button.hint').count()).toBe(0);

    await page.keyboard.press('u');
    await expect.poll(() => moves(page)).toBe(0);
    await page.locator('.turn', { hasText: 'Taken back' }).waitFor();
    await page.locator('.moves', { hasText: 'with 1 take-back, 1 hint' }).waitFor();
    // Nothing is left to take back, so the key does nothing.
    await page.keyboard.press('u');

    // Hints win against anybody.
    while (!(await over(page))) {
      const before = await moves(page);
      await page.getByRole('button', { name: 'Hint' }).click();
      await page.locator('.board button.hint').click({ timeout: 20_000 });
      await expect.poll(() => moves(page), { timeout: 10_000 }).toBeGreaterThan(before);
    }
    const result = await page.locator('.result').textContent();
    expect(result).toMatch(/^You won, with 1 take-back, \d+ hints\.$/);
    expect(await page.getByRole('button', { name: 'Hint' }).isDisabled()).toBe(true);
    await page.screenshot({ path: `${SCREENSHOTS}/game-won-${size.name}-light.png` });

    // The end can be taken back; the next game has another level and side.
    await page.keyboard.press('u');
    await page.getByText('Your move').waitFor();
    await page.locator('.next label', { hasText: 'Casual' }).click();
    await page.locator('.next').getByRole('button', { name: 'second' }).click();
    const finished = page.url();
    await page.keyboard.press('n');
    await page.waitForURL((url) => url.href !== finished);
    await page.locator('.opp .badge', { hasText: 'Casual' }).waitFor();
    await expect.poll(() => moves(page)).toBe(1);
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Take back your last move').waitFor();
    await page.keyboard.press('Escape');
    await expectNoSidewaysScroll(page);
    await page.goto(`${lab.origin}/play`);
    await page.locator('.recent', { hasText: 'hints' }).waitFor();
    expect(complaints.take()).toEqual([]);
  });

  test('two games in two tabs do not disturb each other', async () => {
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto(`${lab.origin}/play?game=tictactoe`);
      await tab.getByRole('button', { name: 'New game' }).click();
      await tab.waitForURL('**/play/*');
      await tab.getByText('Your move').waitFor();
    }
    expect(page.url()).not.toBe(other.url());
    await page.getByRole('button', { name: /^centre|^center/i }).click();
    await expect.poll(() => moves(page)).toBe(2);
    expect(await moves(other)).toBe(0);
    await other.locator('.board button').first().click();
    await expect.poll(() => moves(other)).toBe(2);
    expect(await moves(page)).toBe(2);
    for (const tab of [page, other]) await expectSound(tab, complaints);
    await other.close();
  });
});

describe.each(SIZES)('playing an environment at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });
  afterAll(() => close(context));

  const status = () => page.locator('.status').textContent();
  const step = () => figure(page, '.step');
  const sessionId = () => page.url().split('/').at(-1) as string;

  async function begin(name: string, seed: string) {
    await page.goto(`${lab.origin}/play`);
    await page.locator('label', { has: page.getByText(name, { exact: true }) }).click();
    await page.getByLabel('Seed', { exact: true }).fill(seed);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/environments/*');
    await expect.poll(status).toBe('Ready');
  }

  test('Cart Pole by keyboard, from the start to the end and again', async () => {
    await begin('Cart Pole', '7');
    expect(await page.locator('.badge', { hasText: 'Seed' }).textContent()).toContain('7');
    await page.screenshot({ path: `${SCREENSHOTS}/env-ready-${size.name}-light.png` });
    await expectSound(page, complaints);
    await page.getByRole('button', { name: '0.5x' }).click();
    await page.keyboard.down('ArrowRight');
    await expect.poll(status).toBe('Playing');
    await page.locator('.caps .on', { hasText: 'push right' }).waitFor();
    await rises(step, 1, 5_000);
    await page.screenshot({ path: `${SCREENSHOTS}/env-playing-${size.name}-light.png` });
    await page.keyboard.up('ArrowRight');
    // The last push goes on, so the pole falls.
    await expect.poll(status, { timeout: 20_000 }).toBe('Over');
    const length = await step();
    expect(await figure(page, '.score')).toBe(length);
    await page.getByText('The pole fell, or the cart left the track').first().waitFor();
    await page.getByText(`${475 - length} below the threshold of 475.`).waitFor();
    expect(await page.locator('.episodes li').count()).toBe(1);
    await page.screenshot({ path: `${SCREENSHOTS}/env-over-${size.name}-light.png` });
    await expectSound(page, complaints);

    // What was kept is what was played, to the bit.
    type Kept = { seed: number; actions: number[] };
    const kept = await lab.call<Kept>(`/api/play/environments/${sessionId()}/episodes/1`);
    expect([kept.seed, kept.actions.length]).toEqual([7, length]);
    expect(await lab.trace('CartPole-v1', kept.seed, kept.actions)).toMatchObject({
      terminated: true,
    });

    await page.keyboard.press('Space');
    await expect.poll(status).toBe('Ready');
    await page.keyboard.press('Space');
    await rises(step, 0, 5_000);
    await page.keyboard.press('r');
    await expect.poll(status).toBe('Ready');
    expect(await step()).toBe(0);
    expect(complaints.take()).toEqual([]);
  });

  test('a pause, a reload and a lab that dies lose nothing that was played', async () => {
    await begin('Mountain Car', '');
    await page.keyboard.press('Enter');
    await page.keyboard.down('d');
    await rises(step, 5, 5_000);
    await page.keyboard.press('p');
    await expect.poll(status).toBe('Paused');
    const paused = await step();
    await page.keyboard.up('d');
    await page.reload();
    await expect.poll(status).toBe('Paused');
    expect(await step()).toBe(paused);
    await page.keyboard.press('Space');
    await rises(step, paused + 40, 10_000);
    expect(complaints.take()).toEqual([]);
    const before = await step();
    await lab.kill();
    await expect.poll(status).toBe('Connection lost');
    await expectSound(page, complaints, AWAY);
    await lab.up();
    await expect.poll(status, { timeout: 20_000 }).toBe('Paused');
    // A second at most, and a moment for this test to look.
    expect(await step()).toBeGreaterThanOrEqual(before - 36);
    expect(complaints.take(AWAY)).toEqual([]);
  });

  test('the page is sound while it is played', async () => {
    // It goes on for half a minute and longer.
    await begin('Acrobot', '1');
    await page.getByRole('button', { name: '0.5x' }).click();
    await page.keyboard.press('ArrowRight');
    await expect.poll(status).toBe('Playing');
    await expectSound(page, complaints);
    expect(await status()).toBe('Playing');
    await page.keyboard.press('p');
    await expect.poll(status).toBe('Paused');
  });

  test('another window takes over, and gives back', async () => {
    await begin('Pendulum', '1');
    const other = await context.newPage();
    await other.goto(page.url());
    await expect.poll(() => other.locator('.status').textContent()).toBe('Ready');
    await page.getByText('this session is played in another window').waitFor();
    await page.getByRole('button', { name: 'Play here' }).click();
    await expect.poll(status).toBe('Ready');
    await other.getByText('this session is played in another window').waitFor();
    await other.close();
    expect(complaints.take()).toEqual([]);
  });

  test('controls are buttons under fingers', async () => {
    await begin('Mountain Car', '3');
    const right = page.locator('.caps button', { hasText: 'push right' });
    const box = await right.boundingBox();
    if (!box) throw new Error('no control');
    expect(box.height).toBeGreaterThanOrEqual(44);
    await right.dispatchEvent('pointerdown', { pointerId: 1, pointerType: 'touch', button: 0 });
    await expect.poll(status).toBe('Playing');
    expect(await right.getAttribute('aria-pressed')).toBe('true');
    await rises(step, 3, 5_000);
    await right.dispatchEvent('pointerup', { pointerId: 1, pointerType: 'touch', button: 0 });
    expect(await right.getAttribute('aria-pressed')).toBe('false');
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(status).toBe('Paused');
    // Leaving the window lets go of everything.
    await page.keyboard.down('a');
    await page.locator('.caps .on').waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event('blur')));
    await expect.poll(() => page.locator('.caps .on').count()).toBe(0);
    await page.keyboard.up('a');
    await expectNoSidewaysScroll(page);
    const address = page.url();
    await page.goto(`${lab.origin}/play`);
    await page.locator('.recent li', { hasText: 'Mountain Car' }).first().click();
    await page.waitForURL('**/play/environments/*');
    // The run of a session leads to its page.
    await page.goto(`${lab.origin}/runs/${address.split('/').at(-1)}`);
    await page.waitForURL(address);
    expect(complaints.take()).toEqual([]);
  });
});

describe.each(SIZES)('evaluations of the command line at $name', (size) => {
  test('a match and an evaluation are shown as what they are', async () => {
    const players = ['builtin:mcts:50', 'builtin:random'];
    const match = await lab.command<{ run_id: string; wins: number }>(
      ...['match', 'connect4', ...players, '--games', '10'],
    );
    const evaluation = await lab.command<{ eval_run_id: string }>(
      ...['eval', solved, '--episodes', '5'],
    );
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/runs`);
    await page.getByText(match.run_id).waitFor();
    await page.getByText('evaluation', { exact: true }).first().waitFor();
    await expectNoSidewaysScroll(page);
    await page.goto(`${lab.origin}/runs/${match.run_id}`);
    await page.getByRole('heading', { name: /^Connect 4: MCTS, 50 simulations against/ }).waitFor();
    await page.locator('.badge', { hasText: 'succeeded' }).waitFor();
    expect(await page.locator('.facts div', { hasText: 'Wins' }).locator('dd').textContent()).toBe(
      `${match.wins} `,
    );
    await page.getByText('Match complete').waitFor();
    expect(await page.locator('canvas').count()).toBe(0);
    await page.screenshot({
      path: `${SCREENSHOTS}/run-match-${size.name}-light.png`,
      fullPage: true,
    });
    await expectNoSidewaysScroll(page);
    await page.goto(`${lab.origin}/runs/${evaluation.eval_run_id}`);
    await page.locator('.facts div', { hasText: 'Mean return' }).waitFor();
    await page.screenshot({
      path: `${SCREENSHOTS}/run-eval-${size.name}-light.png`,
      fullPage: true,
    });
    await page
      .getByRole('region', { name: 'evaluation' })
      .getByRole('link', { name: solved })
      .click();
    await page.waitForURL(`**/runs/${solved}`);
    // A game has a page of its own.
    const { plays } = await lab.call<{ plays: { id: string }[] }>('/api/play');
    await page.goto(`${lab.origin}/runs/${plays[0]?.id}`);
    await page.waitForURL(`**/play/${plays[0]?.id}`);
    expect(complaints.take()).toEqual([]);
    await close(context);
  });
});

describe('addresses', () => {
  /** By the name of their pictures. */
  let addresses: Record<string, string>;

  beforeAll(async () => {
    const { plays } = await lab.call<{ plays: { id: string }[] }>('/api/play');
    type Sessions = { sessions: { id: string }[] };
    const { sessions } = await lab.call<Sessions>('/api/play/environments');
    addresses = {
      'overview-idle': '/',
      lab: '/lab',
      'lab-run': `/lab?env=CartPole-v1&run=${solved}`,
      runs: '/runs',
      'runs-found': '/runs?q=terminated',
      run: `/runs/${solved}`,
      'run-smooth': `/runs/${solved}?x=wall&smooth=0.9`,
      compare: `/compare?runs=${solved}`,
      'experiment-new': '/experiments/new',
      'replay-run': `/replay?run=${solved}`,
      play: '/play',
      game: `/play/${plays[0]?.id}`,
      env: `/play/environments/${sessions[0]?.id}`,
    };
  });

  test.each(SIZES)('every page survives a reload, and is pictured, at $name', async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    for (const [name, address] of Object.entries(addresses)) {
      await page.goto(lab.origin + address);
      await page.locator('#main').waitFor();
      await page.reload();
      await page.locator('#main .card:visible').first().waitFor();
      expect(page.url()).toBe(lab.origin + address);
      await expectNoSidewaysScroll(page);
      await pause(900);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const path = `${SCREENSHOTS}/${name}-${size.name}-${colorScheme}.png`;
        await page.screenshot({ path, fullPage: true });
        expect(await seriousViolations(page), `${colorScheme} ${address}`).toEqual([]);
      }
      if (size.width < 720) {
        await page.setViewportSize({ width: 360, height: size.height });
        await expectNoSidewaysScroll(page);
        await page.setViewportSize(size);
      }
      expect(complaints.take(), address).toEqual([]);
    }
    await close(context);
  });

  test('unknown runs, games and pages say so and lead back', async () => {
    const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
    for (const [address, back] of [
      ['/runs/r-nosuch', '/runs'],
      ['/play/g-nosuch', '/play'],
      ['/nowhere', '/lab'],
    ] as const) {
      await page.goto(lab.origin + address);
      await page.getByRole('heading', { name: /There is no/ }).waitFor();
      if (address.startsWith('/runs')) {
        await shoot(page, 'run-unknown', SIZES[0]);
        await expectUsable(page);
      }
      await page.locator('#main a.btn').click();
      await page.waitForURL(`**${back}*`);
    }
    expect(complaints.take(/\b404\b/)).toEqual([]);
    await close(context);
  });

  test('keys go places', async () => {
    const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
    await page.goto(`${lab.origin}/lab`);
    await page.locator('#main').waitFor();
    for (const [keys, address] of [
      ['gr', '/runs'],
      ['gp', '/play'],
      ['gl', '/lab'],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await page.waitForURL(`**${address}`);
    }
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    expect(await theme()).toBe('light');
    await page.keyboard.press('c');
    await page.keyboard.press('t');
    expect(await theme()).toBe('dark');
    await page.reload();
    expect(await theme()).toBe('dark');
    await page.locator('#main').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(complaints.take()).toEqual([]);
    await close(context);
  });
});
