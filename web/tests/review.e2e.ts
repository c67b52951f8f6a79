/**
 * Going back through a game, in a real browser: while it goes on, once it is over, and what would
 * have been best. Also what a viewer meets there, and addresses that lead nowhere.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type Complaints,
  SIZES,
  close,
  launch,
  logIn,
  open,
  openAsViewer,
  type Session,
} from './browser';
import { Lab } from './lab';
import { expectSound, expectSoundAtAllSizes, shoot } from './sound';

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

const moves = (page: Page) => page.locator('.moves li').count();
const taken = (page: Page) => page.locator('.board button:not([aria-label$="empty"])').count();
const free = (page: Page) => page.locator('.board button[aria-disabled="false"]');

describe.each(SIZES)('a game looked back at, $name wide', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });

  afterAll(() => close(context));

  test('what is chosen is in the address', async () => {
    await page.goto(`${lab.origin}/play?game=connect4&opponent=builtin:random&side=second`);
    const chosen = page.locator('label.chosen');
    await expect.poll(() => chosen.allTextContents()).toHaveLength(2);
    expect((await chosen.allTextContents()).join()).toMatch(/Connect 4.*Random mover/s);
    await page.getByRole('button', { name: 'Second', pressed: true }).waitFor();
    await page.locator('label', { hasText: 'Tic-tac-toe' }).click();
    await page.waitForURL('**/play?game=tictactoe&side=second');
    await page.getByRole('button', { name: 'First' }).click();
    await page.locator('label', { hasText: 'Random mover' }).click();
    await page.waitForURL('**/play?game=tictactoe&opponent=builtin:random');
    await expectSound(page, complaints);
  });

  test('a look back disturbs no game that goes on', async () => {
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await free(page).nth(4).click();
    await expect.poll(() => moves(page)).toBe(2);
    expect(await taken(page)).toBe(2);
    await page.getByRole('button', { name: 'centre, yours' }).waitFor();

    await page.keyboard.press(',');
    await page.waitForURL('**/play/*?ply=1');
    await page.locator('.turn', { hasText: 'After move 1 of 2' }).waitFor();
    await expect.poll(() => taken(page)).toBe(1);
    expect(await free(page).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Hint' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'First position' }).click();
    await page.waitForURL('**/play/*?ply=0');
    await expect.poll(() => taken(page)).toBe(0);
    await page.goBack();
    await page.getByText('Your move').waitFor();
    await expect.poll(() => taken(page)).toBe(2);
    expect(await free(page).count()).toBe(7);
  });

  test('a game that is over is gone through, judged and shared', async () => {
    for (let tries = 0; tries < 9 && !(await page.locator('.result').count()); tries += 1) {
      const before = await moves(page);
      await free(page).first().click();
      await expect.poll(() => moves(page)).toBeGreaterThan(before);
    }
    await page.locator('.result').waitFor();
    const n_moves = await moves(page);
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL(`**/play/*?ply=${n_moves - 1}`);
    await page.keyboard.press('Home');
    await page.waitForURL('**/play/*?ply=0');
    await page.locator('.moves li button').nth(2).click();
    await page.waitForURL('**/play/*?ply=3');
    await expect.poll(() => taken(page)).toBe(3);
    expect(await page.locator('.moves li button[aria-current]').textContent()).toMatch(/^3/);
    await shoot(page, 'game-back', size);

    await page.getByRole('button', { name: 'Analyse' }).click();
    await page.getByRole('img', { name: /Value for you after each move; on screen/ }).waitFor();
    await expect.poll(() => page.locator('.moves .val').allTextContents()).not.toContain('');
    await page.locator('.search', { hasText: 'Perfect play would play' }).waitFor();
    const bar = await page.getByRole('img', { name: /^Value for you [-+]/ }).boundingBox();
    // On a phone it lies above the board, and leaves the height to it.
    if (size.width < 720) expect(bar?.height).toBeLessThan(20);
    else expect(bar?.height).toBeGreaterThan(100);
    await shoot(page, 'game-judged', size);
    await expectSound(page, complaints);

    // The address alone shows the same.
    await page.reload();
    await page.locator('.turn', { hasText: `After move 3 of ${n_moves}` }).waitFor();
    await expect.poll(() => taken(page)).toBe(3);
    await page.getByRole('button', { name: 'To the end' }).click();
    await page.locator('.turn', { hasText: /You won|You lost|A draw/ }).waitFor();
    await expectSound(page, complaints);
  });

  test('discs that were turned are told as they lie', async () => {
    await page.goto(`${lab.origin}/play?game=othello`);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await page.getByRole('button', { name: 'd4, theirs' }).waitFor();
    await page.getByRole('button', { name: 'd3, empty' }).click();
    await expect.poll(() => moves(page)).toBeGreaterThanOrEqual(2);
    await page.locator('.moves li button').first().click();
    await page.getByRole('button', { name: 'd4, yours' }).waitFor();
    await page.getByRole('button', { name: 'd3, yours' }).waitFor();
    await expectSound(page, complaints);
  });

  test('what is not there says so, and where to go', async () => {
    const lost: [string, string, string][] = [
      ['experiments/e-000000', 'There is no experiment e-000000', 'All experiments'],
      ['models/nobody', 'There is no model nobody', 'All models'],
      ['evaluations/r-000000', 'There is no evaluation r-000000', 'All evaluations'],
      ['tournaments/r-000000', 'There is no tournament r-000000', 'All tournaments'],
    ];
    for (const [path, words, back] of lost) {
      await page.goto(`${lab.origin}/${path}`);
      await page.getByRole('heading', { name: words }).waitFor();
      await page.getByRole('link', { name: back }).waitFor();
    }
    expect(complaints.take(/404/)).toEqual([]);
  });
});

test('a viewer looks on, and is told why nothing can be played', async () => {
  const { plays } = await lab.call<{ plays: { id: string; result: string | null }[] }>('/api/play');
  const open_game = plays.find(({ result }) => result === null);
  const made = await fetch(`${lab.origin}/api/play/environments`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await lab.token()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ env_id: 'CartPole-v1' }),
  });
  const { id: played } = (await made.json()) as { id: string };
  const { context, page, complaints } = await openAsViewer(browser, lab, SIZES[0]);

  const refusal = "is a viewer's; this needs an operator's";
  await page.goto(`${lab.origin}/play`);
  const start = page.getByRole('button', { name: 'New game' });
  await page.locator('main').getByText(refusal).waitFor();
  expect(await start.isDisabled()).toBe(true);
  await expectSoundAtAllSizes(page, complaints);
  await page.goto(`${lab.origin}/play/${open_game?.id}`);
  await page.locator('.boardcard').getByText(refusal).waitFor();
  expect(await free(page).count()).toBe(0);
  for (const name of ['Take back', 'Hint', 'New game']) {
    expect(await page.getByRole('button', { name }).isDisabled(), name).toBe(true);
  }
  await expectSoundAtAllSizes(page, complaints);
  await page.goto(`${lab.origin}/play/environments/${played}`);
  await page.locator('main').getByText(refusal).waitFor();
  expect(await page.getByText('Connection lost').count()).toBe(0);
  await expectSoundAtAllSizes(page, complaints);
  await close(context);
});
