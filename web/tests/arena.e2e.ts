/**
 * Experiments, evaluations, tournaments, ratings and models in a real browser with the real binary:
 * each flow a person has, wide and on a phone. The tests build on each other and run in order.
 */
import { mkdir } from 'node:fs/promises';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { seriousViolations } from './axe';
import {
  type Complaints,
  SIZES,
  another,
  close,
  launch,
  logIn,
  open,
  openAsViewer,
  type Session,
} from './browser';
import { Lab, pause } from './lab';
import { expectSound } from './sound';

const SCREENSHOTS = 'screenshots';

let lab: Lab;
let browser: Browser;
let session: Session;
/** A training with a checkpoint. */
let trained: string;
let slow: string;

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  [lab, browser] = await Promise.all([Lab.start(), launch()]);
  const made = await lab.command<{ run_id: string }>('train', 'CartPole-v1', '--steps', '5000');
  trained = made.run_id;
  const acrobot = ['train', 'Acrobot-v1', '--steps', '5000', '--set', 'evaluation.episodes=1'];
  slow = (await lab.command<{ run_id: string }>(...acrobot)).run_id;
  session = await logIn(browser, lab.loginUrl);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

/** The page as it stands: pictures of it, nothing that axe minds, nothing beyond the edge. */
async function look(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.screenshot({ path: `${SCREENSHOTS}/${name}-${colorScheme}.png`, fullPage: true });
    expect(await seriousViolations(page), `${colorScheme} ${page.url()}`).toEqual([]);
  }
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(over, `sideways scroll at ${page.url()}`).toBeLessThanOrEqual(0);
}

const succeeded = (page: Page) => page.locator('.badge', { hasText: 'succeeded' }).first();

describe.each(SIZES)('the arena at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;
  /** What the experiment is called. */
  let pole: string;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
    page.setDefaultTimeout(15_000);
  });
  afterAll(() => close(context));

  test('an experiment from the form, checked as it is typed, becomes two runs', async () => {
    await page.goto(`${lab.origin}/experiments`);
    await page.getByRole('link', { name: 'New experiment' }).first().waitFor();
    await look(page, `experiments-empty-${size.name}`);
    await page.getByRole('link', { name: 'New experiment' }).first().click();
    await page.getByRole('button', { name: 'Fast', exact: true }).click();
    await page.waitForURL(/preset=fast/);
    if (size.width < 720) await page.locator('summary', { hasText: 'Training' }).click();

    const rate = page.getByLabel('Learning rate', { exact: true });
    const start = page.getByRole('button', { name: 'Start', exact: true });
    expect(await rate.inputValue()).toBe('0.0004');
    await rate.fill('5');
    await page.getByText('From 0.000001 to 1.').waitFor();
    expect(await start.isDisabled()).toBe(true);
    await rate.fill('0.001');
    await page.getByLabel('Total steps', { exact: true }).fill('5000');
    // The slider moves by keys, and what it changes is told beside what it was.
    await page.getByLabel('Discount, slider').press('ArrowLeft');
    await page.getByText('3 settings differ from the defaults with Fast.').waitFor();
    await look(page, `experiment-new-${size.name}`);
    await page.waitForURL(/trainer\.learning_rate=0\.001/);
    await page.reload();
    await page.getByText('3 settings differ').waitFor();

    pole = another(`Pole ${size.name}`);
    await page.getByLabel('Name', { exact: true }).fill(pole);
    await page.getByLabel('First seed').fill('7');
    await page.getByRole('textbox', { name: 'Runs' }).fill('2');
    await page.getByText('Seeds 7, 8, as a group').waitFor();
    await page.getByLabel('What it is for').fill('two seeds');
    await page.getByRole('group', { name: 'What is shown' }).getByText('JSON').click();
    // All of it is in the address, so that it can be sent to somebody.
    await page.waitForURL(
      ({ searchParams: at }) =>
        at.get('seed') === '7' &&
        at.get('runs') === '2' &&
        at.get('about') === 'two seeds' &&
        at.get('preview') === 'json',
    );
    await page.reload();
    await page.getByText('Seeds 7, 8, as a group').waitFor();
    expect(await page.getByLabel('What it is for').inputValue()).toBe('two seeds');
    await page.getByRole('button', { name: 'JSON', pressed: true }).waitFor();
    const kept = () => lab.call<{ experiments: object[] }>('/api/experiments');
    const before = await kept();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText(/2 runs\s*would be made/).waitFor();
    await page.getByText('Config hash').waitFor();
    await look(page, `experiment-dry-${size.name}`);
    expect(await kept()).toEqual(before);
    await page.getByRole('button', { name: 'Start 2 runs' }).click();
    await page.waitForURL(/\/experiments\/e-/);
    await expect.poll(() => page.locator('section[aria-label="Runs"] tbody tr').count()).toBe(2);
    await succeeded(page).waitFor({ timeout: 30_000 });
    expect(complaints.take()).toEqual([]);
  });

  test('Back brings the preset back, and what was typed with it', async () => {
    const back = await context.newPage();
    await back.goto(`${lab.origin}/experiments/new`);
    const name = back.getByLabel('Name', { exact: true });
    await name.fill('One');
    await back.waitForURL('**name=One');
    await back.getByRole('button', { name: 'Fast', exact: true }).click();
    await back.waitForURL(/preset=fast/);
    await name.fill('Two');
    await back.waitForURL(/name=Two/);
    // What is looked for, and what is unfolded for it, is in the address too.
    const find = back.getByLabel('Find a setting');
    await find.fill('discount');
    await back.waitForURL(/find=discount/);
    await back.locator('summary', { hasText: 'Evaluation' }).waitFor({ state: 'detached' });
    await find.fill('');
    await back.locator('summary', { hasText: 'Evaluation' }).click();
    await back.waitForURL((url) => /Evaluation/.test(url.searchParams.get('folds') ?? ''));
    await back.reload();
    await back.locator('details[open] > summary', { hasText: 'Evaluation' }).waitFor();
    expect(await name.inputValue()).toBe('Two');
    await back.goBack();
    await back.getByRole('button', { name: 'Defaults', exact: true, pressed: true }).waitFor();
    await expect.poll(() => name.inputValue()).toBe('One');
    await back.goForward();
    await expect.poll(() => name.inputValue()).toBe('Two');
    await back.close();
    expect(complaints.take()).toEqual([]);
  });

  test('a dry run makes nothing, a clone begins with the original', async () => {
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('would be made').waitFor();
    expect(await page.locator('section[aria-label="Runs"] tbody tr').count()).toBe(2);
    await look(page, `experiment-${size.name}`);
    await page.getByRole('link', { name: 'Clone' }).click();
    await page.waitForURL(/from=e-/);
    await page.getByText('Nothing differs from').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Archive' }).click();
    // The runs that were started before can still be taken back, too.
    const said = page.locator('.toast', { hasText: 'Archived; its runs stay' });
    if (size.width >= 720) await said.getByRole('button', { name: 'Copy curl' }).waitFor();
    await said.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
    await page.goto(`${lab.origin}/experiments?q=${size.name}`);
    await page.getByRole('link', { name: pole, exact: true }).waitFor();
    await look(page, `experiments-${size.name}`);
    expect(complaints.take()).toEqual([]);
  });

  test('runs are ordered by their experiment, which is a step away', async () => {
    await page.goto(`${lab.origin}/runs`);
    if (size.width < 720) await page.getByLabel('Order').selectOption('experiment');
    else await page.getByRole('button', { name: 'Experiment', exact: true }).click();
    await page.waitForURL('**sort=experiment');
    const first = page.locator(size.width < 720 ? 'li .card' : 'tbody tr:not(.space)').first();
    await first.getByRole('link', { name: /e-[0-9a-z]{6}$/ }).waitFor();
    await look(page, `runs-experiment-${size.name}`);
    await first.getByRole('link', { name: /e-[0-9a-z]{6}$/ }).click();
    await page.waitForURL(/\/experiments\/e-[0-9a-z]{6}$/);
    expect(complaints.take()).toEqual([]);
  });

  test('a tournament fills its cross table, and the leaderboard rates the players', async () => {
    await page.goto(`${lab.origin}/tournaments?new=yes&game=tictactoe`);
    await page.getByLabel('Player 1').selectOption('builtin:random');
    await page.getByLabel('Player 2').selectOption('builtin:alphabeta:1');
    await page.getByRole('button', { name: 'Add a player' }).click();
    await page.getByLabel('Player 3', { exact: true }).selectOption('...');
    await page.getByLabel('Player 3, in words').fill('nobody');
    await page.getByLabel('Games a pair').fill('4');
    await page.getByText('3 pairings, 12 games in all.').waitFor();
    await page.waitForURL(
      ({ searchParams: at }) =>
        at.get('games') === '4' &&
        at.get('players') === 'builtin:random,builtin:alphabeta:1,nobody',
    );
    await page.reload();
    await page.getByText('3 pairings, 12 games in all.').waitFor();
    await page.getByRole('button', { name: 'Start the tournament' }).click();
    await page.locator('.err', { hasText: 'nobody' }).waitFor();
    complaints.take(/422/);
    await page.getByLabel('Player 3, in words').fill('mcts:30');
    await look(page, `tournament-new-${size.name}`);
    await page.getByRole('button', { name: 'Start the tournament' }).click();
    await page.waitForURL(/\/tournaments\/r-/);
    await succeeded(page).waitFor({ timeout: 30_000 });
    await expect
      .poll(() => page.locator('section[aria-label="Pairings"] tbody tr').count())
      .toBe(3);
    await look(page, `tournament-${size.name}`);
    await page.goto(`${lab.origin}/tournaments`);
    await page.getByRole('region', { name: 'Tournaments' }).locator('tbody tr').first().waitFor();
    await look(page, `tournaments-${size.name}`);

    await page.goto(`${lab.origin}/leaderboard?game=tictactoe`);
    const ratings = page.locator('section[aria-label="Ratings"]');
    await expect.poll(() => ratings.locator('tbody tr').count()).toBe(3);
    await ratings.getByRole('button', { name: /Random mover/ }).click();
    await page.waitForURL(/player=builtin%3Arandom/);
    await page.locator('section[aria-label="Win rate by seed"]', { hasText: 'Random' }).waitFor();
    await page.getByRole('img', { name: /^Rating of 3 players/ }).waitFor();
    await page.getByRole('button', { name: 'TrueSkill' }).click();
    await page.getByRole('img', { name: /^TrueSkill of 3 players/ }).waitFor();
    await page.getByRole('button', { name: 'Rating', exact: true }).click();
    await look(page, `leaderboard-game-${size.name}`);
    await page.getByLabel('Board of').selectOption('env CartPole-v1');
    await page.getByText('solved from +475.0').waitFor();
    await page.getByRole('button', { name: 'Runs of place 1' }).click();
    await look(page, `leaderboard-env-${size.name}`);
    await page.goBack();
    await page.getByRole('heading', { name: 'Tic-tac-toe' }).waitFor();
    expect(complaints.take()).toEqual([]);
  });

  test('what was typed a moment before does not keep one from the match', async () => {
    await page.goto(`${lab.origin}/evaluations?new=match&game=tictactoe`);
    await page.getByLabel('A, whose result is told').selectOption('builtin:random');
    await page.getByLabel('B', { exact: true }).selectOption('builtin:alphabeta:1');
    // The page of the match is slower to come than the address is to be written.
    await page.route('**/api/evals/*', async (route) => {
      await pause(1_000);
      await route.continue();
    });
    await page.getByLabel('Games').fill('4');
    await page.getByRole('button', { name: 'Start the match' }).click();
    await page.waitForURL(/\/evaluations\/r-/);
    await page.unroute('**/api/evals/*');
    expect(complaints.take()).toEqual([]);
  });

  test('a policy is evaluated and filmed, and one that is endless is cancelled', async () => {
    await page.goto(`${lab.origin}/evaluations?new=policy&run=${trained}`);
    await page.getByLabel('Episodes').fill('2');
    await page.getByLabel(/Film it/).check();
    await page.waitForURL(
      ({ searchParams: at }) => at.get('episodes') === '2' && at.get('film') === 'yes',
    );
    await page.reload();
    await expect.poll(() => page.getByLabel(/Film it/).isChecked()).toBe(true);
    await look(page, `evaluation-new-${size.name}`);
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click();
    await page.waitForURL(/\/evaluations\/r-/);
    await page.locator('section[aria-label="Film"] video').waitFor({ timeout: 30_000 });
    expect(await page.locator('section[aria-label="Episodes"] tbody tr').count()).toBe(2);
    await look(page, `evaluation-${size.name}`);
    const order = page.getByRole('group', { name: 'Order' });
    await order.getByRole('button', { name: 'worst' }).click();
    await page.waitForURL('**order=worst');
    await page.reload();
    await order.getByRole('button', { name: 'worst', pressed: true }).waitFor();

    // Five hundred steps an episode: it cannot end before it is cancelled.
    await page.goto(`${lab.origin}/evaluations?new=policy&run=${slow}`);
    await page.getByLabel('Episodes').fill('10,000');
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Press again to cancel' }).click();
    await page.locator('.badge', { hasText: 'terminated' }).waitFor({ timeout: 30_000 });
    await page.goto(`${lab.origin}/evaluations`);
    await page.locator('.badge', { hasText: 'terminated' }).first().waitFor();
    await look(page, `evaluations-${size.name}`);
    expect(complaints.take()).toEqual([]);
  });

  test('a model is kept, named best, downloaded, and plays a match seed by seed', async () => {
    await page.goto(`${lab.origin}/models?new=yes&run=${trained}`);
    await page.getByLabel('Name', { exact: true }).fill('Not a name');
    await page.getByText('Small letters, digits').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('pole');
    await page.getByRole('button', { name: 'Keep it' }).click();
    await page.waitForURL('**/models/pole');
    await page.getByRole('button', { name: 'Apply' }).click();
    // A name that is new cannot be taken away again, so it is asked.
    const sure = page.getByRole('button', { name: 'Press again: names stay' });
    if (await sure.isVisible()) await sure.click();
    await page.getByText(/“best” is version \d now/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('link', { name: /policy\.onnx/ })
        .first()
        .click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/policy\.onnx$/);
    await look(page, `model-${size.name}`);

    await page.getByRole('link', { name: 'New match' }).click();
    await page.getByLabel('B', { exact: true }).selectOption('random');
    await page.getByLabel('Episodes').fill('3');
    await page.waitForURL(
      ({ searchParams: at }) => at.get('b') === 'random' && at.get('n') === '3',
    );
    await page.getByRole('button', { name: 'Start the match' }).click();
    await page.waitForURL(/\/evaluations\/r-/);
    await expect
      .poll(() => page.locator('section[aria-label="Seed by seed"] tbody tr').count(), {
        timeout: 30_000,
      })
      .toBe(3);
    await look(page, `match-${size.name}`);
    const which = page.getByRole('group', { name: 'Which seeds' });
    await which.getByRole('button', { name: /^lost/i }).click();
    await page.waitForURL('**seeds=lost');
    await page.reload();
    await which.getByRole('button', { name: /^lost/i, pressed: true }).waitFor();
    await page.goto(`${lab.origin}/models`);
    await page.getByRole('link', { name: 'pole' }).waitFor();
    await look(page, `models-${size.name}`);

    // Put away, it is not listed; it comes back by its own button.
    await page.getByRole('link', { name: 'pole' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    const putAway = page.locator('.toast', { hasText: 'pole is archived' });
    if (size.width < 720) await putAway.waitFor();
    else await putAway.getByRole('button', { name: 'Copy curl' }).waitFor();
    await page.locator('.badge', { hasText: 'archived' }).waitFor();
    await page.getByRole('button', { name: 'Unarchive' }).click();
    await page.getByText('pole is back from the archive').waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
    expect(await page.locator('.badge', { hasText: 'archived' }).count()).toBe(0);
    expect(complaints.take()).toEqual([]);
  });
});

test.each(SIZES)('long lists go on when asked, at $name', async (size) => {
  const { context, page, complaints } = await open(browser, size, { storageState: session });
  for (const name of ['one', 'two']) {
    if (size === SIZES[0]) await lab.command('models', 'add', `page-${name}`, trained);
  }
  // Of one row a page there are two pages, as of hundreds.
  await page.route(/\/api\/(evals|models|experiments)\?/, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/\blimit=\d+/, 'limit=1'),
    }),
  );
  for (const path of ['/tournaments', '/evaluations', '/models', '/experiments']) {
    await page.goto(lab.origin + path);
    const rows = page.locator('main tbody tr');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(new Set(await rows.allInnerTexts()).size, path).toBe(2);
    await look(page, `more${path.replace('/', '-')}-${size.name}`);
    expect(complaints.take(), path).toEqual([]);
  }
  await close(context);
});

test.each(SIZES)('a viewer sees all of it, and is told why not, at $name', async (size) => {
  const { context, page, complaints } = await openAsViewer(browser, lab, size);
  for (const [path, button] of [
    ['/experiments', 'New experiment'],
    ['/experiments/new', 'Start'],
    ['/evaluations', 'New match'],
    ['/tournaments', 'New tournament'],
    ['/models', 'Keep a model'],
  ] as const) {
    await page.goto(lab.origin + path);
    const pressed = page.getByRole('button', { name: button, exact: true });
    await pressed.waitFor();
    expect(await pressed.isDisabled(), path).toBe(true);
    const why = page.locator('main').getByText("is a viewer's; this needs an operator's");
    await why.waitFor();
    await look(page, `viewer${path.replaceAll('/', '-')}-${size.name}`);
    await expectSound(page, complaints);
  }
  expect(complaints.take()).toEqual([]);
  await close(context);
});
