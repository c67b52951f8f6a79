/**
 * The control room: a run watched, tuned, forked, tested, put away and brought back; many runs in
 * a table; several over each other. One lab for all of it, with one endless training.
 */
import { mkdir, readFile, stat } from 'node:fs/promises';

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
import { expectSound, shoot } from './sound';

const SCREENSHOTS = 'screenshots';
const SHORT = ['--set', 'evaluation.final_episodes=2', '--set', 'evaluation.episodes=1'];

let lab: Lab;
let browser: Browser;
let session: Session;
/** Trains for ever, until it is stopped. */
let endless: string;
/** Two seeds of one configuration that have come to their end. */
let seeds: string[];

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
  await lab.command('train', 'CartPole-v1', '--steps', '10000', '--seeds', '1,2', ...SHORT);
  const { runs } = await lab.call<{ runs: { id: string }[] }>('/api/runs');
  seeds = runs.map(({ id }) => id);
  const started = await lab.command<{ run_id: string }>(
    ...['train', 'CartPole-v1', '--steps', '1000000000', '--seed', '7', '--detach', ...SHORT],
  );
  endless = started.run_id;
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

/** On a phone the setup is folded. */
async function unfold(page: Page, size: { width: number }) {
  if (size.width < 1120) await page.locator('.setup > summary').click();
}

const stateOf = async (run: string) =>
  (await lab.call<{ state: string }>(`/api/runs/${run}`)).state;

const setSlider = (page: Page, name: RegExp, position: string) =>
  page.getByRole('slider', { name }).fill(position);

describe.each(SIZES)('at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
    page.setDefaultTimeout(20_000);
  });
  afterAll(() => close(context));

  test('a run is tuned between its bounds, and the change is told and marked', async () => {
    await page.goto(`${lab.origin}/runs/${endless}`);
    await page.getByRole('button', { name: 'Tune', exact: true }).click();
    await page.waitForURL('**panel=tune');
    await setSlider(page, /^Entropy bonus/, size.width > 720 ? '200' : '400');
    await page.getByText('1 changed').waitFor();
    // The charts make room for what is beside them.
    const isCut = ({ scrollWidth, clientWidth }: Element) => scrollWidth > clientWidth + 1;
    await expect.poll(() => page.locator('.plot').first().evaluate(isCut)).toBe(false);
    await page.screenshot({ path: `${SCREENSHOTS}/run-tune-${size.name}-light.png` });
    await expectSound(page, complaints);
    await page.getByRole('button', { name: 'Apply 1' }).click();
    await page.getByText('The same from a shell').click();
    await page.getByText(/cartridge tune/).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.waitForURL((url) => !url.searchParams.has('panel'));
    await page
      .locator('.log li', { hasText: /trainer.ent_coef: .* -> / })
      .first()
      .waitFor({ timeout: 20_000 });
    await page
      .locator('.audit li', { hasText: /^\d\d:\d\d ent_coef .* to 0.0/ })
      .first()
      .waitFor();
    expect(complaints.take()).toEqual([]);
  });

  test('the view is in the address, and a zoom shows the stretch closer', async () => {
    await page.goto(`${lab.origin}/runs/${endless}?scale=log&x=relative&smooth=0.9`);
    await page.getByRole('switch', { name: 'Log', checked: true }).waitFor();
    const closer = page.waitForResponse((response) => /metrics\?.*from=/.test(response.url()));
    const box = await page.locator('.u-over').first().boundingBox();
    if (!box) throw new Error('no chart');
    await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await closer;
    expect(page.url()).toMatch(/scale=log.*range=/);
    const width = () => {
      const [low, high] = (new URL(page.url()).searchParams.get('range') ?? '').split('..');
      return Number(high) - Number(low);
    };
    const before = width();
    await page.keyboard.press('t');
    await page.keyboard.press('z');
    await expect.poll(width).toBeGreaterThan(before);
    await page.reload();
    await page.getByRole('button', { name: 'Follow', pressed: false }).click();
    await page.waitForURL((url) => !url.searchParams.has('range'));
    const episodes = page.getByRole('region', { name: 'Episodes', exact: true });
    await episodes.getByRole('button', { name: 'worst' }).click();
    await page.waitForURL('**episodes=worst');
    await page.reload();
    await episodes.getByRole('button', { name: 'worst', pressed: true }).waitFor();
    expect(complaints.take()).toEqual([]);
  });

  test('artifacts, log, events and config are there to be searched and had', async () => {
    await page.goto(`${lab.origin}/runs/${seeds[0]}`);
    await page.locator('.artifacts tr', { hasText: 'step_' }).first().waitFor();
    await page
      .locator('.artifacts .badge', { hasText: /\d of \d+ kept/ })
      .first()
      .waitFor();
    const wandb = page.getByRole('button', { name: 'W&B' });
    expect(await wandb.isDisabled()).toBe(true);
    expect(await wandb.getAttribute('title')).toMatch(/Enable --track/);
    // Every run has events for TensorBoard.
    const board = page.getByRole('button', { name: 'TensorBoard' });
    expect(await board.isEnabled()).toBe(true);
    expect(await board.getAttribute('title')).toMatch(/Starts TensorBoard/);
    const film = page.getByRole('button', { name: 'Play video' });
    expect(await film.isDisabled()).toBe(true);
    expect(await film.getAttribute('title')).toMatch(/^No film yet/);
    const got = page.waitForEvent('download');
    await page
      .getByRole('link', { name: /^Get step_/ })
      .first()
      .click();
    expect((await got).suggestedFilename()).toMatch(/^step_\d+\.tar$/);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy JSON' }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(JSON.parse(copied)).toEqual(await lab.call(`/api/runs/${seeds[0]}/config`));
    await page.getByRole('button', { name: 'Search', exact: true }).last().click();
    await page.getByLabel('Find in the log').fill('nothing has this');
    await page.getByText('No line has').waitFor();
    await page.getByLabel('Find in the configuration').fill('gamma');
    expect(await page.locator('dl.kv', { hasText: 'trainer.gamma' }).locator('dt').count()).toBe(1);
    await page.screenshot({
      path: `${SCREENSHOTS}/run-done-${size.name}-light.png`,
      fullPage: true,
    });
    await expectSound(page, complaints);
  });

  test('a fork begins from a checkpoint with a setting changed', async () => {
    await page.goto(`${lab.origin}/runs/${seeds[0]}?panel=fork`);
    await page.getByLabel('From checkpoint').selectOption({ label: 'step 2,048' });
    await page.waitForURL('**from=*');
    await setSlider(page, /^Learning rate/, '300');
    await page.getByText('1 changed').waitFor();
    await shoot(page, 'run-fork', size);
    await expectSound(page, complaints);
    await page.locator('aside').getByRole('button', { name: 'Fork', exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(seeds[0] as string));
    await page.locator('.kv', { hasText: `from ${seeds[0]}` }).waitFor();
    await expectSound(page, complaints);
  });

  test('a run is pinned, put away and deleted, and each is taken back', async () => {
    const id = seeds[1] as string;
    await page.goto(`${lab.origin}/runs/${id}`);
    const isPinned = async () => (await lab.call<{ pinned: boolean }>(`/api/runs/${id}`)).pinned;
    await page.locator('.deeds').getByRole('button', { name: 'Pin' }).click();
    await page.locator('.deeds').getByRole('button', { name: 'Unpin', pressed: true }).waitFor();
    expect(await isPinned()).toBe(true);
    if (size.width >= 720) await page.getByText('Copy curl').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(isPinned).toBe(false);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
    await page.getByText('log.txt').first().waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL('**/runs');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: id }).first().waitFor();
    // What is no longer offered to be undone is in the trash.
    await page.goto(`${lab.origin}/runs/${id}`);
    await page.getByText('log.txt').first().waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL('**/runs');
    await page.getByRole('switch', { name: 'Trash' }).click();
    await page.waitForURL('**trash=1');
    await page.getByText(/gone for good in [67] d/).waitFor();
    await shoot(page, 'runs-trash', size);
    await expectSound(page, complaints);
    await page.getByRole('button', { name: `Restore ${id}` }).click();
    await page.getByText('The trash is empty').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: id }).first().waitFor();
    expect(complaints.take()).toEqual([]);
  });

  test('the table is filtered, ordered and grouped by its address', async () => {
    await page.goto(`${lab.origin}/runs?state=active`);
    await page.getByRole('link', { name: endless }).waitFor();
    expect(await page.getByRole('link', { name: seeds[1] as string }).count()).toBe(0);
    await page.getByLabel('State').selectOption('');
    await page
      .getByRole('link', { name: seeds[1] as string })
      .first()
      .waitFor();
    await page.getByLabel('Filter runs').fill('no such run');
    await page.getByText('No run matches').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    // What moves while the list comes back is not pressed.
    await page.waitForURL(`${lab.origin}/runs`);
    await page.getByRole('link', { name: endless }).first().waitFor();
    if (size.width > 720) {
      await page.getByRole('button', { name: 'Steps', exact: true }).click();
      await page.waitForURL('**sort=-step');
      await page.getByRole('switch', { name: 'Group' }).click();
      await page.waitForURL('**grouped=1');
      const group = page.locator('tr.group', { hasText: '2 runs' }).first();
      await group.getByRole('button').click();
      await page.getByRole('button', { expanded: false }).first().waitFor();
      await group.getByRole('checkbox').check();
      await page.getByText('2 chosen').waitFor();
      await page.screenshot({ path: `${SCREENSHOTS}/runs-grouped-1280-light.png` });
      await expectSound(page, complaints);
      await page.getByRole('toolbar').getByRole('link', { name: 'Compare' }).click();
      await page.waitForURL('**/compare?runs=*');
    } else {
      await page.getByLabel('Order').selectOption('step');
      await page.waitForURL('**sort=-step');
      await page.getByRole('button', { name: 'Descending' }).click();
      await page.waitForURL('**sort=step');
      await page.getByRole('switch', { name: 'Group' }).click();
      await page
        .getByRole('button', { name: /2 runs/ })
        .first()
        .click();
      await page.getByRole('button', { expanded: false }).first().waitFor();
      const group = page.locator('li > .group', { hasText: '2 runs' }).first();
      await group.getByRole('checkbox', { name: /^Choose all of/ }).check();
      await page.getByText('2 chosen').waitFor();
      await shoot(page, 'runs-grouped', size);
      await expectSound(page, complaints);
      await group.getByRole('link', { name: 'Compare' }).click();
      await page.waitForURL('**/compare?runs=*');
    }
    expect(complaints.take()).toEqual([]);
  });

  test('runs over each other: seeds as one line, settings that differ', async () => {
    await page.goto(`${lab.origin}/compare?runs=${[...seeds, endless].join(',')}`);
    await page.getByRole('img', { name: 'Mean return of 2 of 2 lines' }).waitFor();
    await page.getByRole('switch', { name: 'Seeds as one' }).click();
    await page.getByRole('img', { name: 'Mean return of 3 of 3 lines' }).waitFor();
    expect(page.url()).toContain('seeds=apart');
    await page.locator('td', { hasText: 'seeds.seed_base' }).waitFor();
    await page.getByRole('region', { name: 'Evaluations side by side' }).waitFor();
    await page.screenshot({
      path: `${SCREENSHOTS}/compare-lines-${size.name}-light.png`,
      fullPage: true,
    });
    await expectSound(page, complaints);
    // A zoom looks closer at every run, and what was measured lies behind the smoothed lines.
    const closer = [...seeds, endless].map((id) =>
      page.waitForResponse((response) =>
        response.url().includes(`/${id}/metrics?points=1000&from=`),
      ),
    );
    const chart = page.locator('.u-over').first();
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    if (!box) throw new Error('no chart');
    await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await Promise.all(closer);
    await shoot(page, 'compare-zoomed', size);
    await expectSound(page, complaints);
    await page.getByRole('button', { name: 'Follow', pressed: false }).click();
    await page.waitForURL((url) => !url.searchParams.has('range'));
    await page.getByRole('button', { name: `Leave out ${endless}` }).click();
    await page.getByRole('img', { name: 'Mean return of 2 of 2 lines' }).waitFor();
    expect(page.url(), 'what else was chosen stays').toContain('seeds=apart');
    await page.goBack();
    await page.getByRole('button', { name: `Leave out ${endless}` }).waitFor();
    // Others are added to a group of seeds, too.
    const { group } = await lab.call<{ group: string }>(`/api/runs/${seeds[0]}`);
    await page.goto(`${lab.origin}/compare?group=${group}`);
    await page.getByLabel('Add a run').selectOption(endless);
    await page.waitForURL((url) => url.searchParams.get('runs')?.split(',').length === 3);
    await page.getByRole('button', { name: `Leave out ${endless}` }).waitFor();
    await page.goto(`${lab.origin}/compare?runs=r-nosuch`);
    await page.getByText('There is no run r-nosuch').waitFor();
    expect(complaints.take(/\b404\b/)).toEqual([]);
    await expectSound(page, complaints);
  });

  test('RECORD keeps a film, RESET clears the charts and never the run', async () => {
    await page.goto(`${lab.origin}/lab?env=CartPole-v1&run=${endless}`);
    await page.getByRole('button', { name: 'Record' }).click();
    const kept = page.waitForEvent('download');
    await page.getByRole('button', { name: /^\d+ s$/ }).click({ timeout: 10_000 });
    const film = await kept;
    expect(film.suggestedFilename()).toMatch(/^CartPole-v1-r-.*\.mp4$/);
    // It plays. Pages of the lab let no film in that is not from it.
    const bytes = await readFile(await film.path());
    const elsewhere = await context.newPage();
    const shown = await elsewhere.evaluate(async (base64) => {
      const binary = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
      const video = document.createElement('video');
      video.muted = true;
      video.src = URL.createObjectURL(new Blob([binary], { type: 'video/mp4' }));
      await video.play();
      await new Promise((done) => (video.ontimeupdate = () => video.currentTime > 0 && done(null)));
      return [video.videoWidth, video.videoHeight];
    }, bytes.toString('base64'));
    expect(shown).toEqual([960, 540]);
    await elsewhere.close();
    // Who leaves while it is recorded has the film all the same, and reads where.
    await page.getByRole('button', { name: 'Record' }).click();
    await page.getByRole('button', { name: /^[1-9]\d* s$/ }).waitFor();
    const left = page.waitForEvent('download');
    await page
      .getByRole('navigation', { name: /^Main/ })
      .getByRole('link', { name: 'Runs' })
      .click();
    await page.waitForURL('**/runs');
    const filmLeft = await left;
    expect(filmLeft.suggestedFilename()).toMatch(/^CartPole-v1-r-.*\.mp4$/);
    expect((await stat(await filmLeft.path())).size).toBeGreaterThan(1000);
    await page.getByText(/^The film ended with the page: .*is among your downloads$/).waitFor();
    await page.goBack();
    const bars = page.getByRole('img', { name: /^Reward of the last \d+ episodes/ });
    // A run that waits plays no new episode, so that what was cleared stays so.
    await lab.call(`/api/runs/${endless}/pause`, 'POST');
    try {
      await expect.poll(() => stateOf(endless)).toBe('paused');
      await bars.waitFor();
      // What it played before may still be on its way when the button is pressed first.
      await expect
        .poll(async () => {
          await page.getByRole('button', { name: 'Reset', exact: true }).click();
          await page.getByText('Feed and charts were cleared').last().waitFor();
          return page.getByRole('img', { name: 'No finished episodes yet' }).isVisible();
        })
        .toBe(true);
      await expectSound(page, complaints);
    } finally {
      // The tests after this one need it too.
      await lab.call(`/api/runs/${endless}/resume`, 'POST');
    }
    await bars.waitFor();
    expect(await stateOf(endless)).toBe('running');
    await expectSound(page, complaints);
  });
});

test('many seeds are few lines, and what is too much to be drawn is named', async () => {
  const numbers = Array.from({ length: 11 }, (_, n) => n + 1).join(',');
  await lab.command('train', 'CartPole-v1', '--steps', '5000', '--seeds', numbers, ...SHORT);
  type Runs = { runs: { id: string }[] };
  const { runs } = await lab.call<Runs>('/api/runs?kind=train&limit=11');
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(
    `${lab.origin}/compare?runs=${[...runs.map(({ id }) => id), ...seeds].join(',')}`,
  );
  await page.getByRole('img', { name: /^Mean return of \d of 2 lines$/ }).waitFor();
  await page.getByText('13 of at most 50').waitFor();
  expect(await page.getByText('not drawn', { exact: true }).count()).toBe(0);
  await page.getByRole('switch', { name: 'Seeds as one' }).click();
  await page.getByRole('img', { name: /^Mean return of \d+ of 10 lines$/ }).waitFor();
  const note = page.getByRole('status').filter({ hasText: 'The first 10 of 13 lines are drawn' });
  const left = `Left out of the charts: ${[runs[10]?.id, ...seeds].join('; ')}.`;
  expect(await note.innerText()).toContain(left);
  expect(await page.getByText('not drawn', { exact: true }).count()).toBe(3);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await shoot(page, 'compare-many', size);
    await expectSound(page, complaints);
  }
  await close(context);
});

describe.each(SIZES)('a test and a training at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });
  afterAll(() => close(context));

  test('TEST plays the policy, then shows its film and its figures', async () => {
    await page.goto(`${lab.origin}/lab?env=CartPole-v1&run=${endless}`);
    await page.getByRole('region', { name: 'Policy behavior detected' }).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.waitForURL('**test=*');
    // First the episodes as they are played, then the film of them.
    await page.getByText('plays 10 episodes and films them').waitFor();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    const said = page.getByRole('region', { name: 'Live feed' }).getByRole('status');
    expect(await said.innerText()).toMatch(/^test$/i);
    await page.locator('.scene canvas').waitFor();
    await page.locator('.scene video').waitFor({ timeout: 60_000 });
    await page.getByText('test of 10 episodes').waitFor();
    // Whose the other figures are is said: a test learns nothing.
    const noteOf = (label: string) =>
      page.locator('.metric', { has: page.getByText(label, { exact: true }) }).locator('.d');
    await expect.poll(() => noteOf('Eps length').innerText()).toMatch(/^test at step [\d.]+[kM]?$/);
    for (const label of ['Loss', 'FPS']) {
      await expect.poll(() => noteOf(label).innerText()).toBe('of the training');
    }
    await page.screenshot({ path: `${SCREENSHOTS}/lab-test-${size.name}-light.png` });
    await expectSound(page, complaints);
    await page.getByRole('button', { name: 'Record' }).click();
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('test'));
    await page.getByText('last 100 episodes', { exact: true }).first().waitFor();
    await expect.poll(() => noteOf('Loss').innerText()).toBe('last update');
    // A recording goes on from one picture to the other.
    const kept = page.waitForEvent('download');
    await page.getByRole('button', { name: /^\d+ (s|min.*)$/ }).click();
    await kept;
    expect(complaints.take()).toEqual([]);
  });

  test('a preset and a setting from the fold are what the run gets', async () => {
    await page.goto(`${lab.origin}/lab?env=CartPole-v1`);
    await unfold(page, size);
    await page.getByRole('button', { name: 'Fast', exact: true }).click();
    expect(await page.getByLabel('Total timesteps').inputValue()).toBe('200,000');
    await page.getByText('more, all at preset').click();
    await page.getByLabel('Discount', { exact: true }).fill('2');
    await page.getByLabel('Discount', { exact: true }).blur();
    await page.getByText('From 0.8 to 0.9999.').waitFor();
    await page.getByLabel('Discount', { exact: true }).fill('0.95');
    await page.getByLabel('Discount', { exact: true }).blur();
    await expectSound(page, complaints);
    await page.getByLabel('Total timesteps').fill('1000000000');
    // What a shell would send is what the button sends.
    await page.getByText('TRAIN from a shell').click();
    const curl = page.locator('.go').getByRole('group', { name: 'Command' });
    expect(await curl.textContent()).toContain('"total_timesteps":1000000000');
    expect(await curl.textContent()).toContain(
      '"preset":"fast","overrides":{"trainer.gamma":0.95}',
    );
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/api/runs'),
    );
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    expect(await curl.textContent()).toContain(`-d '${(await sent).postData()}'`);
    await page.waitForURL('**run=*');
    const id = new URL(page.url()).searchParams.get('run');
    await page.getByText(`${id} is queued`).waitFor();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    type Config = { trainer: Record<string, unknown>; simulation: Record<string, unknown> };
    const config = await lab.call<Config>(`/api/runs/${id}/config`);
    expect(config.trainer).toMatchObject({ gamma: 0.95, total_timesteps: 1_000_000_000 });
    expect(config.simulation).toMatchObject({ n_envs: 8 });
    await lab.call(`/api/runs/${id}/terminate`, 'POST');
    expect(complaints.take()).toEqual([]);
  });
});

test.each(SIZES)(
  'a viewer sees all and can do nothing, and is told why, at $name',
  async (size) => {
    const { context, page, complaints } = await openAsViewer(browser, lab, size);
    await page.goto(`${lab.origin}/runs/${endless}?panel=tune`);
    const pause = page.getByRole('button', { name: 'Pause', exact: true });
    await pause.waitFor();
    expect(await pause.isDisabled()).toBe(true);
    // It is said where phones show it, and once: a title shows nowhere on them.
    const why = "is a viewer's; this needs an operator's";
    await page.getByRole('region', { name: 'Run', exact: true }).getByText(why).waitFor();
    await page.getByRole('region', { name: 'Artifacts', exact: true }).getByText(why).waitFor();
    await page.locator('.bar').getByText('Viewer').waitFor();
    expect(await page.getByRole('slider', { name: /^Learning rate/ }).isDisabled()).toBe(true);
    for (const name of [
      'Pin',
      'Archive',
      'Delete',
      'Checkpoint',
      'Stop',
      'Terminate',
      'Evaluate',
    ]) {
      const button = page.getByRole('button', { name, exact: true }).first();
      expect(await button.isDisabled(), name).toBe(true);
    }
    await expectSound(page, complaints);
    await page.goto(`${lab.origin}/lab?env=CartPole-v1&run=${endless}`);
    for (const name of ['Train', 'Test', 'Stop']) {
      const button = page.getByRole('button', { name, exact: true });
      await button.waitFor();
      expect(await button.isDisabled(), name).toBe(true);
    }
    await page.getByRole('region', { name: 'Setup' }).getByText(why).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}/lab-viewer-${size.name}-light.png` });
    await expectSound(page, complaints);
    await page.goto(`${lab.origin}/runs`);
    await page.getByLabel(`Choose ${endless}`).check();
    const bar = page.getByRole('toolbar', { name: 'Chosen runs' });
    for (const name of ['Pause', 'Archive', 'Stop']) {
      expect(await bar.getByRole('button', { name, exact: true }).isDisabled(), name).toBe(true);
    }
    await bar.getByText(why).waitFor();
    await shoot(page, 'runs-viewer', size);
    await expectSound(page, complaints);
    await page.goto(`${lab.origin}/play`);
    await page.getByText('viewer').first().waitFor();
    expect(await page.getByRole('button', { name: 'New game' }).isDisabled()).toBe(true);
    await expectSound(page, complaints);
    await close(context);
  },
);
