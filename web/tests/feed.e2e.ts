/**
 * The live feed of the lab and of a run, in a real browser: the training itself while it goes on,
 * its newest policy where somebody wants that, and the setup beside it.
 */
import type { Browser, BrowserContext, Page, WebSocket } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Complaints, SIZES, close, launch, logIn, open, type Session } from './browser';
import { Lab } from './lab';
import { expectSound, shoot } from './sound';

const SHORT = ['--set', 'evaluation.final_episodes=1', '--set', 'evaluation.episodes=1'];

let lab: Lab;
let browser: Browser;
let session: Session;
/** Trains until it is stopped. */
let endless: string;

beforeAll(async () => {
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
  const args = ['train', 'CartPole-v1', '--steps', '1000000000', '--seed', '7', '--detach'];
  endless = (await lab.command<{ run_id: string }>(...args, ...SHORT)).run_id;
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

/** The frames of a run that a page was sent, and how many of its connections are open. */
class Watched {
  readonly frames = new Set<string>();
  open = 0;
  opened = 0;

  constructor(page: Page, run: string) {
    page.on('websocket', (socket: WebSocket) => {
      if (!socket.url().includes(`/${run}/frames`)) return;
      this.open += 1;
      this.opened += 1;
      socket.on('close', () => (this.open -= 1));
      socket.on('framereceived', ({ payload }) => {
        type Frame = { source: string; episode: number | null; step: number; reward: number };
        const frame = JSON.parse(String(payload)) as Frame;
        if (frame.source === 'training')
          this.frames.add(`${frame.episode} ${frame.step} ${frame.reward}`);
      });
    });
  }
}

/** Episode, step and reward as the badges of a feed have them, all at one moment. */
function badges(page: Page, feed: string): Promise<string> {
  return page.getByRole('region', { name: feed }).evaluate((card) => {
    const of = (name: string) => {
      const badge = [...card.querySelectorAll('.badge')].find((it) =>
        it.textContent?.trim().startsWith(name),
      );
      return Number(badge?.querySelector('b')?.textContent?.replaceAll(/[,+]/g, ''));
    };
    return `${of('Episode')} ${of('Step')} ${of('Reward')}`;
  });
}

const picture = (page: Page, feed: string) => () =>
  page
    .getByRole('region', { name: feed })
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

describe.each(SIZES)('at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
    page.setDefaultTimeout(20_000);
  });
  afterAll(() => close(context));

  test.each([
    ['the lab', 'Live feed', () => `/lab?env=CartPole-v1&run=${endless}`],
    ['the run', 'Picture', () => `/runs/${endless}`],
  ] as const)('%s shows the training itself, or its newest policy', async (_, feed, address) => {
    const tab = await context.newPage();
    tab.setDefaultTimeout(20_000);
    const watched = new Watched(tab, endless);
    await tab.goto(lab.origin + address());
    const card = tab.getByRole('region', { name: feed });
    await card.scrollIntoViewIfNeeded();
    await card.getByText(/Trained on at step/).waitFor();
    await card.getByRole('button', { name: 'Training', pressed: true }).waitFor();

    // The picture moves, and the badges are those of one frame that was sent.
    const before = await picture(tab, feed)();
    await expect.poll(picture(tab, feed)).not.toBe(before);
    const first = await badges(tab, feed);
    await expect.poll(() => badges(tab, feed)).not.toBe(first);
    for (let looks = 0; looks < 5; looks += 1) {
      const shown = await badges(tab, feed);
      expect([...watched.frames]).toContain(shown);
    }
    await shoot(tab, feed === 'Picture' ? 'run-feed' : 'lab-feed', size);
    await expectSound(tab, complaints);

    // A tab that nobody sees lets go of it.
    const hide = (hidden: boolean) =>
      tab.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await hide(true);
    await expect.poll(() => watched.open).toBe(0);
    await hide(false);
    await expect.poll(() => watched.open).toBe(1);

    // The newest policy plays at its own pace, and the training is no longer sent.
    await card.getByRole('button', { name: 'Newest policy' }).click();
    await tab.waitForURL((url) => url.searchParams.get('feed') === 'policy');
    await card.locator('.badge', { hasText: /Checkpoint/i }).waitFor();
    await expect.poll(() => watched.open).toBe(0);
    const policy = await badges(tab, feed);
    await expect.poll(() => badges(tab, feed)).not.toBe(policy);
    await tab.reload();
    await card.scrollIntoViewIfNeeded();
    await card.getByRole('button', { name: 'Newest policy', pressed: true }).waitFor();
    await card.locator('.badge', { hasText: /Checkpoint/i }).waitFor();
    expect(watched.open).toBe(0);
    await expectSound(tab, complaints);
    await card.getByRole('button', { name: 'Training', exact: true }).click();
    await tab.waitForURL((url) => !url.searchParams.has('feed'));
    await expect.poll(() => watched.open).toBe(1);

    // What is paused stays as it is, and nothing more is sent.
    await card.getByText(/Trained on at step/).waitFor();
    await card.getByRole('button', { name: 'Pause the picture' }).click();
    await expect.poll(() => watched.open).toBe(0);
    await card.getByRole('button', { name: 'Play the picture' }).click();
    await expect.poll(() => watched.open).toBe(1);
    expect(complaints.take()).toEqual([]);
    await tab.close();
  });

  test('the setup says what an environment is, and what learns it', async () => {
    await page.goto(`${lab.origin}/lab?env=CartPole-v1`);
    expect(await page.locator('header .brand').innerText()).toBe('RL LAB // GYM MANAGER');
    expect(await page.locator('header .ver').innerText()).toMatch(/^V\d+\.\d+\.\d+$/);
    expect(await page.locator('header .ver').isVisible()).toBe(true);
    if (size.width < 1120) await page.locator('.setup > summary').click();
    const env = (name: string) =>
      page.locator('label.env', { has: page.getByText(name, { exact: true }) });
    const tags = async (name: string) =>
      (await env(name).locator('.tag').allInnerTexts()).map((tag) => tag.toUpperCase());
    expect(await tags('Cart Pole')).toEqual(['BOX 4', 'DISCRETE 2']);
    expect(await tags('Pendulum')).toEqual(['BOX 3', 'CONTINUOUS 1']);
    expect(await page.getByLabel('Learning rate').inputValue()).toBe('0.0003');
    expect(await page.getByLabel('Total timesteps').inputValue()).toBe('1,000,000');
    const algorithms = page.getByRole('group', { name: 'Algorithm' }).getByRole('button');
    expect((await algorithms.allInnerTexts()).map((name) => name.toLowerCase())).toEqual([
      'ppo',
      'dqn',
    ]);
    await env('Pendulum').click();
    await page.waitForURL('**env=Pendulum-v1*');
    await expect.poll(async () => (await algorithms.allInnerTexts()).length).toBe(1);
    expect((await algorithms.first().innerText()).toLowerCase()).toBe('ppo');
    await expectSound(page, complaints);
  });

  test('Back brings an environment back, and what was typed for it', async () => {
    await page.goto(`${lab.origin}/lab?env=CartPole-v1`);
    const rate = page.getByLabel('Learning rate');
    const env = (name: string) =>
      page.locator('label.env', { has: page.getByText(name, { exact: true }) });
    if (size.width < 1120) await page.locator('.setup > summary').click();
    await page.getByRole('button', { name: 'Fast', exact: true }).waitFor();
    await rate.fill('0.001');
    await rate.blur();
    await page.waitForURL('**set=learning_rate*');
    await env('Acrobot').click();
    await page.waitForURL('**env=Acrobot-v1*');
    await rate.fill('0.01');
    await rate.blur();
    await page.waitForURL((url) => url.searchParams.get('set') === 'learning_rate=0.01');
    await page.goBack();
    await page.waitForURL('**env=CartPole-v1*');
    await expect.poll(() => rate.inputValue()).toBe('0.001');
    await page.goForward();
    await expect.poll(() => rate.inputValue()).toBe('0.01');
    expect(complaints.take()).toEqual([]);
  });

  if (size.width < 720)
    test('on a phone the picture comes before the controls', async () => {
      await page.goto(`${lab.origin}/lab?env=CartPole-v1&run=${endless}`);
      const top = async (name: string) =>
        (await page.locator(name).first().boundingBox())?.y ?? Number.NaN;
      const order = ['.setup', '.slot.feed', '.slot.metrics', '.card.go', '.slot.hist'];
      const tops = await Promise.all(order.map(top));
      expect([...tops].sort((a, b) => a - b)).toEqual(tops);
    });
});
