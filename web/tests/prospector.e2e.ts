/** An environment that waits for decisions, played by a person: by keys, by touch, and seen again. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Complaints, SIZES, close, launch, logIn, open, type Session } from './browser';
import { Lab } from './lab';
import { expectSound, shoot } from './sound';

let lab: Lab;
let browser: Browser;
let session: Session;

beforeAll(async () => {
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

describe.each(SIZES)('Asteroid Prospector at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });
  afterAll(() => close(context));

  const status = async () => (await page.locator('.status').textContent())?.split('.')[0];
  const step = async () => Number(await page.locator('.step').textContent());
  const options = () => page.getByRole('option').locator('.name').allTextContents();
  const field = () => page.getByRole('combobox', { name: 'What to do' });
  const sessionId = () => page.url().split('/').at(-1) as string;

  /** Does what is called so, the way one does at this size. */
  async function decide(name: string) {
    const before = await step();
    if (size.width > 720) {
      await field().fill(name);
      await page.keyboard.press('Enter');
    } else await page.getByRole('option', { name }).first().tap();
    await expect.poll(step).toBe(before + 1);
  }

  test('it is chosen among the environments and waits for the first decision', async () => {
    await page.goto(`${lab.origin}/play`);
    await page.locator('label', { hasText: 'Asteroid Prospector' }).click();
    await page.waitForURL('**game=AsteroidProspector-v0*');
    await page.getByLabel('Seed', { exact: true }).fill('5');
    await expectSound(page, complaints);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/environments/*');
    await expect.poll(status).toBe('Ready');
    const names = await options();
    expect(names).toContain('hold');
    expect(names, 'there is nothing to mine at the station').not.toContain('mine hard');
    await page.getByRole('region', { name: 'Numbers' }).getByText('fuel').waitFor();
    await shoot(page, 'prospector', size);
    await expectSound(page, complaints);
  });

  test('decisions by keys or by touch, and nothing that is not legal', async () => {
    if (size.width > 720) {
      // Whoever comes types at once.
      expect(await field().evaluate((input) => input === document.activeElement)).toBe(true);
      await page.keyboard.type('mine');
      await page.getByText('Nothing legal is called').waitFor();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      expect(await step()).toBe(0);
      // A digit takes one of the first nine, an arrow walks on, Enter repeats.
      await page.keyboard.press('1');
      await expect.poll(step).toBe(1);
      const before = await page.locator('[role=option][aria-selected=true] .name').textContent();
      await page.keyboard.press('ArrowDown');
      const after = await page.locator('[role=option][aria-selected=true] .name').textContent();
      expect(after).not.toBe(before);
      await page.keyboard.type('hold');
      await page.keyboard.press('Enter');
      await expect.poll(step).toBe(2);
      await page.keyboard.press('Enter');
      await expect.poll(step).toBe(3);
      await page.locator('.last', { hasText: 'hold' }).waitFor();
    } else {
      const box = await page.getByRole('option').first().boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(44);
      await decide('travel to neighbour 1');
      await decide('hold');
      await decide('hold');
    }
    expect(await status()).toBe('Your decision');
    await shoot(page, 'prospector-playing', size);
    await expectSound(page, complaints);
    await page.reload();
    await expect.poll(step).toBe(3);
    await expect.poll(status).toBe('Your decision');
  });

  test('it ends by a decision, is kept to the bit, and is seen again in the theatre', async () => {
    await decide('cash out');
    await expect.poll(status).toBe('Over');
    type Kept = { seed: number; actions: number[] };
    const kept = await lab.call<Kept>(`/api/play/environments/${sessionId()}/episodes/1`);
    expect([kept.seed, kept.actions.length, kept.actions.at(-1)]).toEqual([5, 4, 68]);
    expect(await lab.trace('AsteroidProspector-v0', kept.seed, kept.actions)).toMatchObject({
      terminated: true,
    });
    await shoot(page, 'prospector-over', size);
    await expectSound(page, complaints);
    // Enter goes on: the button has the focus.
    const again = page.getByRole('button', { name: 'Play again' });
    await expect.poll(() => again.evaluate((it) => it === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await expect.poll(status).toBe('Ready');
    expect(await step()).toBe(0);
    await page.getByRole('link', { name: 'Watch again' }).click();
    await page.waitForURL('**/replay/*/1*');
    await page.getByRole('img', { name: /^Step 0/ }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('img', { name: /^Step 4, cash out/ }).waitFor();
    await expectSound(page, complaints);
  });
});

test.each(SIZES)(
  'a training of it has profit, survival and invalid actions, at $name',
  async (size) => {
    const args = ['train', 'AsteroidProspector-v0', '--steps', '6000', '--seed', '1', '--now'];
    const short = ['evaluation.final_episodes=1', 'analytics.window_steps=2048'];
    const set = short.flatMap((one) => ['--set', one]);
    const { run_id: id } = await lab.command<{ run_id: string }>(...args, ...set);
    await lab.ended(id);
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/analytics?run=${id}`);
    const card = (label: string) =>
      page.locator('.metric', { has: page.getByText(label, { exact: true }) }).locator('.v');
    await expect.poll(() => card('Profit').innerText()).toMatch(/^[+-]?\d/);
    expect(await card('Survival').innerText()).toMatch(/^\d+\.\d\s*%$/);
    expect(await card('Invalid actions').innerText()).toMatch(/^\d+\.\d\s*%$/);
    await shoot(page, 'analytics-prospector', size);
    await expectSound(page, complaints);
    await close(context);
  },
);
