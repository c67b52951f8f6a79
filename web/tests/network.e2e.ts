/**
 * Playing against a network, and looking at what it thinks: chosen by name and strength, shown as far
 * as one wants, and the game judged by it afterwards.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Complaints, SIZES, close, launch, logIn, open, type Session } from './browser';
import { Lab } from './lab';
import { network } from './network';
import { expectSound, expectSoundAtAllSizes, shoot } from './sound';

let lab: Lab;
let browser: Browser;
/** A run that has learnt for a moment. */
let training: string;
let session: Session;

beforeAll(async () => {
  lab = await Lab.start();
  const file = join(lab.data, 'four.onnx');
  await writeFile(file, network([2, 6, 7], 7));
  await lab.command('models', 'add', 'four', file, '--env', 'connect4');
  training = await train();
  // Whatever came of the training's own try to be the best.
  await lab.command('models', 'promote', 'four@1');
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

/** As little as shows something. */
function train(): Promise<string> {
  return begin('connect4', '5000');
}

async function begin(game: string, steps: string, ...more: string[]): Promise<string> {
  const settings = [
    'simulation.n_envs=16',
    'simulation.n_steps=16',
    'trainer.network=tiny',
    'trainer.least_window=1000',
    'trainer.learning_starts=256',
    'trainer.batch_size=32',
    'retention.checkpoint_every_steps=2000',
    'evaluation.final_episodes=2',
    'evaluation.simulations=8',
  ];
  const sets = settings.flatMap((setting) => ['--set', setting]);
  const args = ['train', game, '--steps', steps, ...sets, ...more];
  return (await lab.command<{ run_id: string }>(...args)).run_id;
}

const moves = (page: Page) => page.locator('.moves li').count();
const rows = (page: Page) => page.locator('.search tbody tr').count();
const marks = (page: Page) => page.locator('.board .mark').count();
const bar = (page: Page) => page.locator('.value').count();

/** Plays a column by its number. */
async function play(page: Page, column: number): Promise<void> {
  const before = await moves(page);
  await page.keyboard.press(String(column));
  await expect.poll(() => moves(page)).toBeGreaterThan(before);
}

describe.each(SIZES)('networks at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });

  afterAll(() => close(context));

  test('a network is chosen by its name and a strength, and the page says whom one plays', async () => {
    // Who has chosen nothing plays a game that was learnt, against what learnt it.
    await page.goto(`${lab.origin}/play`);
    await page.locator('label.level', { has: page.locator('input:checked') }).waitFor();
    const kind = page.getByRole('button', { name: 'Network', exact: true });
    expect(await kind.getAttribute('aria-pressed')).toBe('true');
    await page.locator('label', { hasText: 'Connect 4' }).locator('input:checked').waitFor();
    await page.getByRole('button', { name: 'Built in' }).click();
    await page.waitForURL('**opponent=builtin*');
    await kind.click();
    await page.waitForURL('**opponent=best*');
    await page.getByRole('combobox', { name: 'Network' }).selectOption({ index: 0 });
    await page.locator('label.level', { hasText: 'Novice' }).click();
    await page.waitForURL('**opponent=best:0*');
    await shoot(page, 'play-network', size);
    await expectSound(page, complaints);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await page.getByText('Your move').waitFor();
    await page.locator('.opp .badge', { hasText: 'Novice' }).waitFor();
    const facts = page.locator('.opp .kv');
    await expect.poll(() => facts.textContent()).toMatch(/Simulations\s*0/);
    await expect.poll(() => facts.textContent()).toMatch(/Rating\s*not rated yet/);
    await facts.getByRole('link', { name: 'play a match' }).waitFor();
  });

  test('who was rated with other simulations says so', async () => {
    // Evaluations have rated the newest checkpoint, with 8 simulations.
    const opponent = `run:${training}@step_000005000:25`;
    await page.goto(`${lab.origin}/play?game=connect4&opponent=${opponent}`);
    await page
      .getByText(/^Rated -?[\d,]+\s+± \d+ after \d+ games, rated with 8 simulations/)
      .waitFor();
    const chosen = page.locator('label.level.chosen');
    expect(await chosen.innerText()).toMatch(/Casual\s+25[^~]*~-?[\d,]+/);
    await expectSound(page, complaints);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    const facts = page.locator('.opp .kv');
    await expect
      .poll(() => facts.innerText())
      .toMatch(/Rating\s+-?[\d,]+\s+± \d+\s+rated with 8 simulations/i);
    await facts.getByRole('link', { name: training }).waitFor();
    await expectSound(page, complaints);
    // The game that the next tests look at.
    await page.goto(`${lab.origin}/play?game=connect4&opponent=best:0`);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await page.getByText('Your move').waitFor();
  });

  test('one just plays; what it thinks is shown to who asks, and counts as help', async () => {
    await play(page, 4);
    expect([await rows(page), await marks(page), await bar(page)]).toEqual([0, 0, 0]);
    await page.keyboard.press('t');
    await expect.poll(() => rows(page)).toBe(7);
    expect(await marks(page)).toBe(7);
    await page.getByRole('img', { name: /^Value for you [-+]/ }).waitFor();
    await page.getByRole('button', { name: /column 4, .*\d+%, \d+ visits, prior \d+%/i }).waitFor();
    // The visits are on the squares too, and add up to the simulations of the search.
    const figures = await page.locator('.board .mark b').allInnerTexts();
    const visits = figures.map((text) => Number(/(\d+)\s*$/.exec(text)?.[1] ?? 0));
    expect(figures.filter((text) => /^\d+%\s+\d+$/.test(text)).length).toBeGreaterThan(2);
    expect(visits.reduce((sum, n) => sum + n, 0)).toBe(200);
    // And inside of the board's own width, each in its own.
    const boxes = await page
      .locator('.board .mark b span')
      .evaluateAll((spans) =>
        spans.map((span) => span.scrollWidth - (span.parentElement?.clientWidth ?? 0)),
      );
    expect(Math.max(...boxes)).toBeLessThanOrEqual(0);
    await page.locator('.search', { hasText: 'connect4@1, 200 simulations' }).waitFor();
    await page.locator('.search', { hasText: 'Line' }).waitFor();
    await page.locator('.moves', { hasText: 'with 1 hint' }).waitFor();
    await shoot(page, 'game-thinking', size);
    await expectSound(page, complaints);

    // Each by itself, and the choice is kept.
    await page.getByRole('switch', { name: 'Search numbers' }).click();
    await expect.poll(() => rows(page)).toBe(0);
    await page.reload();
    await expect.poll(() => marks(page)).toBe(7);
    expect(await rows(page)).toBe(0);
    // The same position is not counted again.
    await page.locator('.moves', { hasText: 'with 1 hint' }).waitFor();
    await page.keyboard.press('t');
    await expect.poll(() => marks(page)).toBe(0);
    expect(await bar(page)).toBe(0);
    await page.getByRole('button', { name: 'Take back' }).click();
    await expect.poll(() => moves(page)).toBe(0);
  });

  test('a finished game is judged, and leads to its biggest mistake', async () => {
    // Who plays the middle by its policy alone does not see four in the first column.
    for (let disc = 0; disc < 4; disc += 1) await play(page, 1);
    await page.locator('.turn', { hasText: 'You won' }).waitFor();
    // Afterwards all is shown, and costs nothing.
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await page.waitForURL('**/play/*?ply=6');
    await expect.poll(() => rows(page)).toBe(7);
    // The last move won, and a search knows that it does.
    expect(await page.locator('.search tr[aria-selected=true]').textContent()).toMatch(/^1.*\+1!/s);

    await page.getByRole('button', { name: 'Analyse', exact: true }).click();
    await page.getByRole('img', { name: /Value for you after each move; on screen/ }).waitFor();
    expect(await page.locator('.moves .val').allTextContents()).not.toContain('');
    const mistake = page.getByRole('button', { name: /Biggest mistake: move \d, theirs/ });
    await mistake.locator('visible=true').click();
    await page.waitForURL('**/play/*?ply=5');
    await page.locator('.moves .turned', { hasText: '?' }).waitFor();
    await page.locator('.search', { hasText: 'played' }).waitFor();
    await shoot(page, 'game-mistake', size);
    await expectSound(page, complaints);
    await page.locator('.moves', { hasText: 'with 1 take-back, 1 hint' }).waitFor();
  });

  test('a game of a training is seen with what its search found', async () => {
    await page.goto(`${lab.origin}/runs/${training}`);
    const card = page.getByRole('region', { name: 'Self-play' });
    await card.scrollIntoViewIfNeeded();
    // A game goes by, move for move: what was searched says so, and so does what was drawn.
    const told = new Map<string, string>();
    const look = async () => {
      const text = (await card.innerText()).replaceAll(/\s+/g, ' ');
      const [, game, move] = /game ([\d,]+) move (\d+) of/i.exec(text) ?? [];
      const [, who] = / (search|opening|network alone|the end) /i.exec(`${text} `) ?? [];
      if (game && move && who) told.set(`${game.replaceAll(',', '')} ${move}`, who.toLowerCase());
      return [...told.values()];
    };
    await expect.poll(look, { timeout: 30_000, interval: 100 }).toContain('search');
    await expect.poll(() => card.locator('.prob').count()).toBe(7);
    await card.getByText(/^On the board: column/).waitFor({ state: 'attached' });
    for (const [at, who] of told) {
      const [game, move] = at.split(' ').map(Number);
      type Xray = { exact: boolean; steps: { searched: boolean }[] };
      const { exact, steps } = await lab.call<Xray>(`/api/runs/${training}/episodes/${game}/xray`);
      expect(exact).toBe(true);
      const next = steps[move ?? 0];
      expect(who, at).toBe(!next ? 'the end' : next.searched ? 'search' : 'opening');
    }
    await shoot(page, 'self-play', size);
    await expectSound(page, complaints);
    await card.getByRole('link', { name: /^Game/ }).click();
    await page.waitForURL(`**/replay/${training}/*`);
    await page.locator('.xray').waitFor();
    // Who cannot see the board is told how it stands, move by move.
    await page.keyboard.press('Home');
    await page.getByText('The board is empty.').waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowRight');
    await page
      .getByText(/^On the board: column \d, first player's\. All else is empty\.$/)
      .waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowRight');
    await page.getByText(/^On the board: .*second player's.*\.$/).waitFor({ state: 'attached' });
    expect(complaints.take()).toEqual([]);
  });

  test('any checkpoint of a run is found by its name, and played', async () => {
    await page.goto(`${lab.origin}/play?game=connect4&opponent=best:0`);
    await page.getByText('Find another checkpoint').click();
    await page.getByLabel('Find a run').fill('nothing like it');
    await page.getByText('No run with a checkpoint has that in its name.').waitFor();
    await page.getByLabel('Find a run').fill(training);
    await page.getByRole('button', { name: training }).click();
    const checkpoint = page.getByRole('combobox', { name: 'Checkpoint' });
    await checkpoint.waitFor();
    const oldest = (await checkpoint.locator('option').last().getAttribute('value')) as string;
    await checkpoint.selectOption(oldest);
    // As strong as the one before.
    await page.waitForURL((url) => url.searchParams.get('opponent') === `${oldest}:0`);
    await expectSound(page, complaints);
    // The address is enough.
    await page.reload();
    await page.locator('label.level.chosen', { hasText: 'Novice' }).waitFor();
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    const facts = page.locator('.opp .kv');
    await expect.poll(() => facts.textContent()).toContain(training);
    expect(complaints.take()).toEqual([]);
  });

  test('the network that the program brings along is played, and its run is elsewhere', async () => {
    await page.goto(`${lab.origin}/play?game=connect4&opponent=shipped:0`);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await page.getByText('Your move').waitFor();
    await play(page, 4);
    await expect.poll(() => moves(page)).toBe(2);
    const facts = page.locator('.opp .kv');
    expect(await facts.innerText()).toMatch(/Run\s+r-\w{6}/i);
    // It has played nobody here: how strong it is was measured before.
    expect(await facts.innerText()).toMatch(/Rating\s+[\d,]+\s+± \d+/i);
    // Nothing here leads to a page that is not there.
    const runs = page.locator('.opp a[href^="/runs/"]');
    expect(await runs.count()).toBe(0);
    await shoot(page, 'play-shipped', size);
    await expectSound(page, complaints);
  });

  test('the lab tells how strong a training by self-play is', async () => {
    await page.goto(`${lab.origin}/lab?run=${training}`);
    const figures = page.locator('.metric');
    await figures.filter({ hasText: /Rating\s*-?\d/ }).waitFor();
    await figures.filter({ hasText: /Policy loss\s*\d/ }).waitFor();
    await figures.filter({ hasText: /Games\s*\d/ }).waitFor();
    expect(await figures.filter({ hasText: 'Mean reward' }).count()).toBe(0);
    await page.getByText(/first player won \d+, drew \d+, lost \d+/).waitFor();
    // What the newest policy plays is told to who cannot see it, too.
    const feed = page.getByRole('region', { name: 'Live feed' });
    await feed.getByText(/On the board: column/).waitFor({ state: 'attached' });
    await shoot(page, 'lab-self-play', size);
    await expectSound(page, complaints);
  });

  test('where no network plays, that is said', async () => {
    await page.goto(`${lab.origin}/play?game=tictactoe`);
    expect(await page.getByRole('button', { name: 'Network', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'New game' }).click();
    await page.waitForURL('**/play/*');
    await page.getByText('No network plays Tic-tac-toe yet.').waitFor();
    expect(await page.getByRole('switch', { name: 'Value bar' }).isDisabled()).toBe(true);
    await expectSound(page, complaints);
  });
});

test('while a training goes on its board shows one game after the other', async () => {
  const live = await begin('tictactoe', '100000000', '--detach');
  const state = async () => (await lab.call<{ state: string }>(`/api/runs/${live}`)).state;
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(`${lab.origin}/runs/${live}`);
  const card = page.getByRole('region', { name: 'Self-play' });
  await card.scrollIntoViewIfNeeded();
  const badge = card.getByRole('link', { name: /^Game/ });
  const game = async () =>
    (await badge.count()) > 0 ? ((await badge.textContent()) as string).replaceAll(',', '') : null;
  await expect.poll(game, { timeout: 60_000 }).not.toBeNull();
  const first = await game();
  const board = card.getByText(/^(On the board: |The board is empty)/);
  await expect.poll(() => board.count(), { timeout: 30_000 }).toBe(1);
  const picture = () =>
    card.locator('canvas').evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  const before = await picture();
  await expect.poll(game, { timeout: 60_000 }).not.toBe(first);
  await expect.poll(picture, { timeout: 30_000 }).not.toBe(before);
  expect(await state()).toBe('running');
  await expectSoundAtAllSizes(page, complaints);
  // Wherever else it is shown, it is told as well.
  for (const [at, where] of [
    [`/lab?run=${live}`, '.slot.feed'],
    ['/', '.now article'],
    ['/?kiosk=1', '.kiosk .stage'],
  ] as const) {
    await page.goto(lab.origin + at);
    const told = page.locator(where).getByText(/On the board: .*first player's/);
    await told.waitFor({ state: 'attached', timeout: 30_000 });
    await expectSoundAtAllSizes(page, complaints);
  }
  await lab.call(`/api/runs/${live}/terminate`, 'POST');
  await lab.ended(live);
  await close(context);
});
