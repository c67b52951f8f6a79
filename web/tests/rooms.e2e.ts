/**
 * The rooms around the runs, in a real browser: overview, kiosk, palette, cluster, audit, settings
 * and analytics. The tests build on each other and run in order.
 */
import { mkdir } from 'node:fs/promises';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { seriousViolations } from './axe';
import { AWAY, SIZES, another, close, launch, logIn, open, type Session } from './browser';
import { Lab } from './lab';
import { SCREENSHOTS, expectSound, expectSoundAtAllSizes, shoot } from './sound';

type Made = { id: string };

const ENDLESS = { env_id: 'CartPole-v1', algorithm: 'ppo', total_timesteps: 1_000_000_000 };

let lab: Lab;
let browser: Browser;
let session: Session;
/** A training that went to its end in a dozen windows. */
let trained: string;
/** Its newest windows, oldest first. */
let windows: number[];
/** One that goes on. */
let endless: string;

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

async function create(body: Record<string, unknown>): Promise<string> {
  const response = await fetch(`${lab.origin}/api/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await lab.token()}`,
      'idempotency-key': crypto.randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as Made).id;
}

describe('before anything is trained', () => {
  test.each(SIZES)('the empty rooms at $name', async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    for (const [address, text] of [
      ['/', 'Nothing needs a look'],
      ['/analytics', 'Nothing was trained yet'],
      ['/cluster', 'Nothing trains'],
      ['/?kiosk=1', 'Nothing has played yet'],
    ] as const) {
      await page.goto(lab.origin + address);
      await page.getByText(text).waitFor();
      if (address.includes('kiosk')) await page.getByRole('group', { name: 'Command' }).waitFor();
      const name = address.replace(/\W|=1/g, '') || 'overview';
      await page.screenshot({ path: `${SCREENSHOTS}/${name}-empty-${size.name}-light.png` });
      await expectSound(page, complaints);
    }
    await close(context);
  });
});

describe('while a run trains', () => {
  beforeAll(async () => {
    const tiny = ['--set', 'evaluation.final_episodes=1', '--set', 'evaluation.episodes=1'];
    const cut = ['--set', 'analytics.window_steps=2048', '--now'];
    const train = ['train', 'CartPole-v1', '--steps', '30000', '--seed', '3', ...tiny, ...cut];
    trained = (await lab.command<{ run_id: string }>(...train)).run_id;
    await lab.ended(trained);
    const told = await lab.call<{ windows: { window_id: number }[] }>(
      `/api/analytics/runs/${trained}/iterations?limit=10`,
    );
    windows = told.windows.map(({ window_id }) => window_id);
    endless = await create(ENDLESS);
  });

  test.each(SIZES)('the overview shows it at $name', async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(lab.origin);
    await page.getByRole('heading', { name: '1 run playing' }).waitFor();
    const card = page.getByRole('article').filter({ hasText: endless });
    await card.getByText(/^[+-]\d/).waitFor();
    await card.getByText('Waiting for a picture').waitFor({ state: 'detached' });
    await page.getByText('This machine').waitFor();
    // How long it still takes, its pace, and what it costs the machine.
    const footer = card.locator('.ft');
    await expect.poll(() => footer.innerText()).toMatch(/\d+ (s|min|h|d)\b/);
    await expect.poll(() => footer.innerText()).toMatch(/[\d.]+k?\/s/);
    await expect.poll(() => footer.innerText()).toMatch(/CPU \d+%/);
    await shoot(page, 'overview', size);
    await expectSound(page, complaints);

    await page.goto(`${lab.origin}/?kiosk=1`);
    await page.getByRole('heading', { name: /Cart Pole/ }).waitFor();
    expect(await page.locator('header.bar').count()).toBe(0);
    await page.getByText('Waiting for a picture').waitFor({ state: 'detached' });
    await shoot(page, 'kiosk', size);
    await expectSound(page, complaints);
    await page.keyboard.press('Escape');
    await page.waitForURL(`${lab.origin}/`);
    await close(context);
  });

  test('the palette finds pages and runs, pauses one, and the toast takes it back', async () => {
    const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
    await page.goto(lab.origin);
    await page.getByRole('heading', { name: '1 run playing' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: /Settings/ }).waitFor();
    await shoot(page, 'palette', SIZES[0]);

    await page.getByRole('combobox').fill(`pause ${endless}`);
    await page.getByRole('option', { name: `Pause ${endless}` }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(`${endless} pauses after this update`).waitFor();
    await page.getByRole('heading', { name: 'Nothing is playing, 1 paused' }).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}/toast-1280-light.png` });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { name: '1 run playing' }).waitFor();

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('nothing like it');
    await page.getByText('Nothing is called').waitFor();
    await page.getByRole('combobox').fill(trained);
    await page.getByRole('option', { name: trained }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${trained}`);
    expect(complaints.take()).toEqual([]);
    await close(context);
  });

  test.each(SIZES)('the machine at $name', async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/cluster`);
    await page.getByRole('link', { name: endless }).first().waitFor();
    await shoot(page, 'cluster', size);
    await expectSound(page, complaints);
    await page.getByRole('button', { name: 'trainer' }).click();
    await page.waitForURL('**/cluster?kind=trainer');
    await page.getByRole('link', { name: endless }).first().click();
    await page.waitForURL(`**/runs/${endless}`);
    await page.goBack();
    await page.waitForURL('**/cluster?kind=trainer');
    await close(context);
  });

  test('a run that dies is an alert, which is taken note of and muted', async () => {
    await lab.killTrainer(endless);
    const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
    await page.goto(lab.origin);
    await page.getByText('Run failed').waitFor();
    await page.getByRole('heading', { name: '1 needs a look' }).waitFor();
    await shoot(page, 'overview-alert', SIZES[0]);
    await expectSound(page, complaints);
    // It cannot be taken back, so it is asked.
    await page.getByRole('button', { name: 'Take note' }).click();
    await page.getByRole('button', { name: 'Press again to take note' }).click();
    await page.getByText('Noted by').waitFor();
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.getByText('Nothing needs a look').waitFor();
    await page.reload();
    await page.getByText('1 muted').waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('Run failed').waitFor();
    await close(context);
  });
});

describe.each(SIZES)('analytics at $name', (size) => {
  test('the latest run, ten iterations, and figures that follow them', async () => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/analytics`);
    // The newest training is the one that died.
    await page.getByLabel('Run', { exact: true }).waitFor();
    expect(await page.getByLabel('Run', { exact: true }).inputValue()).toBe(endless);
    const cards = page.getByRole('group', { name: 'Key figures' }).locator('.metric');
    for (const label of ['Return', 'Steps/s', 'Episode length']) {
      const card = cards.filter({ has: page.getByText(label, { exact: true }) });
      await expect.poll(() => card.locator('.v').innerText(), { message: label }).toMatch(/\d/);
    }
    await page.getByLabel('Run', { exact: true }).selectOption(trained);
    await page.waitForURL(`**/analytics?run=${trained}`);

    const iterations = page.getByLabel('Iteration, the last 10');
    expect(windows).toHaveLength(10);
    const [older, chosen, next] = windows.slice(3);
    await page.getByRole('heading', { name: `Iteration ${windows.at(-1)}` }).waitFor();
    expect(await iterations.locator('option').count()).toBe(11);
    const kpis = () => page.locator('.metric').allInnerTexts();
    const latest = await kpis();
    expect(latest.length).toBeGreaterThan(3);
    await iterations.selectOption(String(chosen));
    await page.getByRole('heading', { name: `Iteration ${chosen}` }).waitFor();
    const then = await kpis();
    expect(then).toHaveLength(latest.length);
    expect(then.filter((text, index) => text === latest[index])).toEqual([]);
    // Who hears the page is told at once what was chosen.
    const words = page.locator('.live-words');
    await expect.poll(() => words.textContent()).toMatch(`Iteration ${chosen}. Return `);
    await page.getByText(`against ${older}`).first().waitFor();
    await page.getByRole('cell', { name: 'Loss', exact: true }).waitFor();
    await shoot(page, 'analytics', size);
    await expectSound(page, complaints);

    await page.getByRole('slider').press('ArrowRight');
    await page.getByRole('heading', { name: `Iteration ${next}` }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: `Iteration ${chosen}` }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/^paused/).waitFor();

    // A run of which nothing is known yet says what can be done.
    const history = '**/api/analytics/runs/*/history*';
    await page.route(history, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as object;
      await route.fulfill({ response, json: { ...json, windows: [] } });
    });
    await page.reload();
    await page.getByText('No window has this figure yet').waitFor();
    const trend = page.getByRole('region', { name: 'Trend' });
    const command = trend.getByRole('group', { name: 'Command' });
    expect(await command.textContent()).toContain(`/api/analytics/runs/${trained}/history`);
    await shoot(page, 'analytics-no-trend', size);
    await expectSound(page, complaints);
    await page.unroute(history);
    await trend.getByRole('button', { name: 'Look again' }).click();
    await page.getByRole('slider').waitFor();
    await close(context);
  });
});

describe('audit', () => {
  test.each(SIZES)('lines, filters and files at $name', async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/audit`);
    await page.getByRole('link', { name: endless }).first().waitFor();
    await page
      .getByRole('button', { name: /More about line/ })
      .first()
      .click();
    await page.getByText('Hash', { exact: true }).waitFor();
    await page.waitForURL(/line=\d+/);
    await page.reload();
    await page.getByText('Hash', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^All \d+ lines are as they were written/).waitFor();
    await shoot(page, 'audit', size);
    await expectSound(page, complaints);

    await page.getByLabel('What', { exact: true }).fill('pause');
    await page.waitForURL('**/audit?action=pause');
    await page.getByText('1 line', { exact: true }).waitFor();
    const csv = await page.getByRole('link', { name: 'CSV' }).getAttribute('href');
    const table = await (await page.request.get(lab.origin + csv)).text();
    expect(table.trim().split('\n')).toHaveLength(2);
    const json = await page.getByRole('link', { name: 'JSON' }).getAttribute('href');
    type Export = { lines: { action: string }[] };
    const { lines } = (await (await page.request.get(lab.origin + json)).json()) as Export;
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines[0])).toContain(endless);
    await page.getByLabel('What', { exact: true }).fill('nothing');
    await page.getByText('No line fits').waitFor();
    await page.getByRole('link', { name: 'Show all' }).first().click();
    await page.waitForURL('**/audit');
    await close(context);
  });
});

describe('settings', () => {
  test.each(SIZES)('at $name', async (size) => {
    const { context, page, complaints } = await open(browser, size, { storageState: session });
    await page.goto(`${lab.origin}/settings`);
    await page
      .getByText(/\d+ of \d+ kept/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Nothing would go').waitFor();
    await page.getByLabel('Videos of a run').fill('7');
    await page.getByLabel('Loki').fill('ftp://logs');
    await page.getByRole('form', { name: 'Links' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^a link begins with https:/).waitFor();
    expect(complaints.take(/\b422\b/)).toEqual([]);
    await shoot(page, 'settings', size);
    await expectSound(page, complaints);

    const limits = page.getByRole('form', { name: 'Retention' });
    await limits.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Retention saved').waitFor();
    await limits.getByText('The same from a shell').click();
    await limits.getByText('settings retention.keep_videos=7').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => page.getByLabel('Videos of a run').inputValue()).toBe('3');
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await page.getByRole('button', { name: 'System', exact: true }).click();
    await close(context);
  });

  test('prices are set, and a run has its cost', async () => {
    const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
    await page.goto(`${lab.origin}/settings`);
    const prices = page.getByRole('form', { name: 'Prices' });
    await prices.getByLabel('Currency').fill('EUR');
    await prices.getByLabel('CPU').fill('3600');
    await prices.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Prices saved').waitFor();
    type Priced = { cost: { so_far: number; currency: string } | null };
    const cost = async () => (await lab.call<Priced>(`/api/runs/${endless}`)).cost;
    await expect.poll(cost).toMatchObject({ currency: 'EUR' });
    expect((await cost())?.so_far).toBeGreaterThan(0);
    await page.goto(`${lab.origin}/runs`);
    const row = page.locator('tr', { hasText: endless });
    await expect.poll(() => row.innerText()).toMatch(/[\d.]+\s*EUR/);
    await expectSound(page, complaints);
    await close(context);
    const phone = await open(browser, SIZES[1], { storageState: session });
    await phone.page.goto(`${lab.origin}/runs`);
    const facts = phone.page.locator('.card', { hasText: endless }).locator('.facts');
    await expect.poll(() => facts.innerText()).toMatch(/Cost\s*[\d.]+ EUR/i);
    await expect.poll(() => facts.innerText()).toMatch(/Heartbeat/i);
    await shoot(phone.page, 'runs-cards', SIZES[1]);
    await expectSound(phone.page, phone.complaints);
    await close(phone.context);
  });

  test('a token is made, shown once, lets a viewer look and not act, and is revoked', async () => {
    const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
    await page.goto(`${lab.origin}/settings`);
    const name = another('wall');
    await page.getByLabel('Who gets it').fill(name);
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByText('shown this once').waitFor();
    const secret = (await page.locator('.secret pre').first().textContent())?.trim() as string;
    await page.screenshot({ path: `${SCREENSHOTS}/settings-token-1280-light.png` });
    expect(await seriousViolations(page)).toEqual([]);

    const viewer = await open(browser, SIZES[0]);
    await viewer.page.goto(`${lab.origin}/login`);
    await viewer.page.getByLabel('Or paste the token').fill(secret);
    await viewer.page.getByRole('button', { name: 'Log in' }).click();
    await viewer.page.getByText('Run failed').waitFor();
    await viewer.page.goto(`${lab.origin}/settings`);
    await viewer.page.getByText("this needs an admin's").first().waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Dry run' }).isDisabled()).toBe(true);
    expect(await viewer.page.getByLabel('Videos of a run').isDisabled()).toBe(true);
    await viewer.page.screenshot({ path: `${SCREENSHOTS}/settings-viewer-1280-light.png` });
    expect(viewer.complaints.take(/\b401\b/)).toEqual([]);
    await expectSoundAtAllSizes(viewer.page, viewer.complaints);

    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    await page.getByRole('button', { name: 'Press again to revoke' }).click();
    await page.getByText('can no longer come in').waitFor();
    await viewer.page.reload();
    await viewer.page.getByLabel('Or paste the token').waitFor();
    await close(viewer.context, /\b401\b/);
    expect(complaints.take()).toEqual([]);
    await close(context);
  });
});

test('keys go to every room, and on a phone More does', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(`${lab.origin}/lab`);
  await page.locator('#main').waitFor();
  for (const [keys, address] of [
    ['go', '/'],
    ['gk', '/cluster'],
    ['ga', '/analytics'],
    ['gu', '/audit'],
    ['gs', '/settings'],
  ] as const) {
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForURL(lab.origin + address);
  }
  await page.keyboard.press('?');
  await page.getByText('Search or run a command').waitFor();
  await shoot(page, 'keys', SIZES[0]);
  expect(complaints.take()).toEqual([]);
  await close(context);

  const phone = await open(browser, SIZES[1], { storageState: session });
  await phone.page.goto(lab.origin);
  await phone.page.getByRole('button', { name: 'More' }).click();
  const menu = phone.page.getByRole('dialog', { name: 'All pages' });
  await menu.getByRole('link', { name: /Cluster/ }).waitFor();
  await phone.page.screenshot({ path: `${SCREENSHOTS}/more-390-light.png` });
  expect(await seriousViolations(phone.page)).toEqual([]);
  await menu.getByRole('link', { name: /Settings/ }).click();
  await phone.page.waitForURL('**/settings');
  expect(phone.complaints.take()).toEqual([]);
  await close(phone.context);
});

test('analytics keeps what it has when the lab is away, and says so', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0], { storageState: session });
  await page.goto(`${lab.origin}/analytics?run=${trained}`);
  await page.getByRole('heading', { name: `Iteration ${windows.at(-1)}` }).waitFor();
  await lab.kill();
  await page.getByRole('button', { name: 'Refresh' }).click();
  const away = page.getByText('The lab does not answer');
  await away.first().waitFor();
  await page.screenshot({ path: `${SCREENSHOTS}/analytics-away-1280-light.png` });
  await page.getByRole('heading', { name: `Iteration ${windows.at(-1)}` }).waitFor();
  await expectSoundAtAllSizes(page, complaints, AWAY);
  await lab.up();
  // Whatever asked in vain asks again by itself.
  await expect.poll(() => away.count(), { timeout: 30_000 }).toBe(0);
  expect(complaints.take(AWAY)).toEqual([]);
  await close(context);
});
