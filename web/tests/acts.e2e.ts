/**
 * What happened to a run, on its charts; how it is ended; what is said of it; and the same by thumb
 * and without motion. One lab; what is endless is ended by the tests.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { SIZES, close, launch, logIn, open, type Session } from './browser';
import { Lab } from './lab';
import { expectSound, expectSoundAtAllSizes, shoot } from './sound';

const SHORT = ['--set', 'evaluation.final_episodes=2', '--set', 'evaluation.episodes=1'];
const PHONE = SIZES[1];

let lab: Lab;
let browser: Browser;
let session: Session;
let ended: string;

beforeAll(async () => {
  lab = await Lab.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
  ended = await train('--steps', '10000', '--seed', '1');
  await lab.ended(ended);
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

const tab = (size: (typeof SIZES)[number] = SIZES[0], more: { reducedMotion?: 'reduce' } = {}) =>
  open(browser, size, { storageState: session, ...more });

async function train(...more: string[]): Promise<string> {
  const args = ['train', 'CartPole-v1', '--now', ...more, ...SHORT];
  return (await lab.command<{ run_id: string }>(...args)).run_id;
}

/** A training that goes on until somebody ends it. */
const endless = (...more: string[]) => train('--steps', '1000000000', '--detach', ...more);

/** The kinds of events that a run has told of. */
async function told(run: string): Promise<string[]> {
  const log = await lab.call<{ events: { type: string }[] }>(`/api/runs/${run}/events`);
  return log.events.map(({ type }) => type);
}

/** Whether a chart has pixels of a token's colour above its lines, or at their feet. */
function hasSign(page: Page, title: string, token: string, place: 'head' | 'foot') {
  return page.getByRole('application', { name: title, exact: true }).evaluate(
    (box, [token, place]) => {
      const canvas = box.querySelector('canvas');
      const lines = box.querySelector('.u-over')?.getBoundingClientRect();
      const context = canvas?.getContext('2d');
      if (!canvas || !lines || !context) return false;
      const { top } = canvas.getBoundingClientRect();
      const [from, to] =
        place === 'head'
          ? [lines.top - top - 12, lines.top - top - 1]
          : [lines.bottom - top - 7, lines.bottom - top - 1];
      const probe = new OffscreenCanvas(1, 1).getContext('2d');
      if (!probe) return false;
      probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(token);
      probe.fillRect(0, 0, 1, 1);
      const wanted = probe.getImageData(0, 0, 1, 1).data;
      const { data } = context.getImageData(0, from, canvas.width, to - from);
      for (let at = 0; at < data.length; at += 4) {
        if ([0, 1, 2, 3].every((channel) => data[at + channel] === wanted[channel])) return true;
      }
      return false;
    },
    [token, place] as const,
  );
}

test('tuning, checkpoints, evaluations and a crash are marked on every chart', async () => {
  const run = await endless(
    ...['--set', 'evaluation.every_steps=50000'],
    ...['--set', 'retention.checkpoint_every_steps=50000'],
  );
  await expect.poll(() => told(run), { timeout: 60_000 }).toContain('evaluation_complete');
  const { context, page, complaints } = await tab();
  await page.goto(`${lab.origin}/runs/${run}`);
  const legend = page.getByRole('toolbar', { name: 'Charts' }).locator('.legend');
  await legend.getByText('evaluation', { exact: true }).waitFor();
  await legend.getByText('checkpoint', { exact: true }).waitFor();
  expect(await legend.getByText('tune', { exact: true }).count()).toBe(0);
  expect(await hasSign(page, 'Loss', '--accent', 'head')).toBe(false);

  await lab.command('tune', run, 'trainer.ent_coef=0.02');
  await legend.getByText('tune', { exact: true }).waitFor();
  expect(await legend.getByText('crash', { exact: true }).count()).toBe(0);
  await lab.killTrainer(run);
  await legend.getByText('crash', { exact: true }).waitFor();
  for (const title of ['Mean return', 'Loss']) {
    for (const [token, place] of [
      ['--accent', 'head'],
      ['--ink', 'head'],
      ['--alert', 'head'],
      ['--ink-3', 'foot'],
    ] as const) {
      const sign = () => hasSign(page, title, token, place);
      await expect.poll(sign, { message: `${token} on ${title}` }).toBe(true);
    }
  }
  await shoot(page, 'marks', SIZES[0]);
  await expectSound(page, complaints);
  await close(context);
});

test.each(SIZES)('Terminate asks before it ends a run at once, at $name', async (size) => {
  const run = await endless('--seed', String(size.width));
  const state = async () => (await lab.call<{ state: string }>(`/api/runs/${run}`)).state;
  await expect.poll(state, { timeout: 30_000 }).toBe('running');
  const { context, page, complaints } = await tab(size);
  await page.goto(`${lab.origin}/runs/${run}`);
  const control = page.getByRole('group', { name: 'Control' });
  await control.getByRole('button', { name: 'Terminate', exact: true }).click();
  const sure = control.getByRole('button', { name: 'Press again to terminate' });
  await sure.waitFor();
  expect(await state()).toBe('running');
  // Who does not mean it waits, and is not asked again.
  await control.getByRole('button', { name: 'Terminate', exact: true }).waitFor();
  expect(await state()).toBe('running');
  // A busy machine may be late for the second press, and then it is asked anew.
  const press = async () => {
    // Once it has ended there is nothing left to press.
    const button = control.getByRole('button', { name: /terminate/i });
    await button.click({ timeout: 1_000 }).catch(() => {});
    return await state();
  };
  await expect.poll(press, { timeout: 30_000 }).not.toBe('running');
  await page.locator('.runhead .badge', { hasText: 'terminated' }).waitFor({ timeout: 30_000 });
  await expect.poll(state).toBe('terminated');
  expect(await control.getByRole('button', { name: 'Terminate' }).count()).toBe(0);
  await expectSound(page, complaints);
  await close(context);
});

test.each(SIZES)('what is found is said plainly or with its numbers, at $name', async (size) => {
  const { context, page, complaints } = await tab(size);
  const insight = {
    id: 'plateau',
    severity: 'warning',
    sentence: 'ep_rew_mean has not risen by 2% over 40 updates',
    plain: 'It has stopped getting better',
    detail: 'mean 22.4, slope 0.01',
    suggestion: 'Try a larger learning rate',
  };
  await page.route('**/insights', async (route) => {
    const answer = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...answer, insights: [insight] } });
  });
  await page.goto(`${lab.origin}/lab?run=${ended}`);
  const card = page.getByRole('region', { name: 'Policy behavior detected' });
  await card.getByText(insight.plain).waitFor();
  expect(await card.getByText(insight.detail).count()).toBe(0);
  await card.getByRole('switch', { name: 'Plain language' }).click();
  await card.getByText(insight.sentence).waitFor();
  await card.getByText(insight.detail).waitFor();
  expect(await card.getByText(insight.plain).count()).toBe(0);
  // The choice is kept.
  await page.reload();
  await card.getByText(insight.sentence).waitFor();

  await card.getByRole('button', { name: 'Generate report' }).click();
  const links = card.getByRole('group', { name: 'Report as' });
  for (const [format, type] of [
    ['html', 'text/html'],
    ['text', 'text/plain'],
    ['json', 'application/json'],
  ] as const) {
    const address = await links.getByRole('link', { name: format }).getAttribute('href');
    const answer = await page.request.get(lab.origin + address);
    expect(answer.status()).toBe(200);
    expect(answer.headers()['content-type']).toContain(type);
    expect(await answer.text()).toContain(ended);
  }
  await expectSound(page, complaints);
  const opened = context.waitForEvent('page');
  await links.getByRole('link', { name: 'html' }).click();
  const report = await opened;
  await report.getByText(ended).first().waitFor();
  await card.getByRole('button', { name: 'Generate report' }).waitFor();
  await close(context);
});

test('the lab by thumb: what is chosen and typed is in the address, and the page is sound', async () => {
  const { context, page, complaints } = await tab(PHONE);
  await page.goto(`${lab.origin}/lab?env=CartPole-v1`);
  await page.locator('.setup > summary').click();
  await page.getByRole('button', { name: 'Fast', exact: true }).click();
  const steps = page.getByLabel('Total timesteps');
  await expect.poll(() => steps.inputValue()).toBe('200,000');
  await page.waitForURL('**preset=fast*');
  await page.getByText('more, all at preset').click();
  await page.getByLabel('Discount', { exact: true }).fill('0.95');
  await page.getByLabel('Seed', { exact: true }).fill('77');
  await page.getByLabel('Seed', { exact: true }).blur();
  await page.waitForURL((url) => url.searchParams.get('set') === 'seed=77;trainer.gamma=0.95');
  await shoot(page, 'lab-setup', PHONE);
  await expectSound(page, complaints);
  // The address is enough.
  await page.reload();
  await page.locator('.setup > summary').click();
  await page.getByRole('button', { name: 'Fast', exact: true, pressed: true }).waitFor();
  await expect.poll(() => steps.inputValue()).toBe('200,000');
  await page.getByText('more, 1 changed').click();
  expect(await page.getByLabel('Discount', { exact: true }).inputValue()).toBe('0.95');
  expect(await page.getByLabel('Seed', { exact: true }).inputValue()).toBe('77');
  await page.getByRole('button', { name: 'All at preset' }).click();
  await page.waitForURL((url) => url.searchParams.get('set') === 'seed=77');
  await page.getByRole('button', { name: 'Fast', exact: true }).click();
  await page.waitForURL((url) => !url.searchParams.has('preset'));
  await page.getByRole('button', { name: 'dqn', exact: true }).click();
  await page.waitForURL('**algo=dqn*');
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test('the palette by thumb', async () => {
  const { context, page, complaints } = await tab(PHONE);
  await page.goto(lab.origin);
  await page.getByRole('button', { name: /^Search/ }).click();
  await page.getByRole('combobox').fill(ended);
  await page.getByRole('option', { name: ended }).first().waitFor();
  await expectSound(page, complaints);
  await page.getByRole('option', { name: ended }).first().click();
  await page.waitForURL(`**/runs/${ended}`);
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test('several runs are chosen by thumb and put away together', async () => {
  const other = await train('--steps', '5000', '--seed', '2');
  await lab.ended(other);
  const { context, page, complaints } = await tab(PHONE);
  await page.goto(`${lab.origin}/runs?q=cart+succeeded`);
  for (const id of [ended, other]) await page.getByLabel(`Choose ${id}`).check();
  const bar = page.getByRole('toolbar', { name: 'Chosen runs' });
  await bar.getByText('2 chosen').waitFor();
  await shoot(page, 'runs-chosen', PHONE);
  await expectSound(page, complaints);
  await bar.getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByLabel(`Choose ${ended}`).waitFor({ state: 'detached' });
  await page.getByLabel(`Choose ${other}`).waitFor({ state: 'detached' });
  expect(await bar.count()).toBe(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByLabel(`Choose ${ended}`).waitFor();
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test('several runs are pinned and deleted together, and both are taken back', async () => {
  const other = await train('--steps', '5000', '--seed', '3');
  await lab.ended(other);
  const { context, page, complaints } = await tab();
  await page.goto(`${lab.origin}/runs?q=cart+succeeded`);
  const both = [ended, other];
  for (const id of both) await page.getByLabel(`Choose ${id}`).check();
  const bar = page.getByRole('toolbar', { name: 'Chosen runs' });
  const toast = (text: string) => page.locator('.toast', { hasText: text });
  const pinned = async () => {
    const asked = both.map((id) => lab.call<{ pinned: boolean }>(`/api/runs/${id}`));
    return (await Promise.all(asked)).map((run) => run.pinned);
  };
  await bar.getByRole('button', { name: 'Pin', exact: true }).click();
  await toast('2 runs pinned').waitFor();
  expect(await pinned()).toEqual([true, true]);
  await bar.getByRole('button', { name: 'Unpin', exact: true }).waitFor();
  await toast('2 runs pinned').getByRole('button', { name: 'Undo' }).click();
  await expect.poll(pinned).toEqual([false, false]);

  await bar.getByRole('button', { name: 'Delete', exact: true }).click();
  await toast('2 runs deleted').waitFor();
  for (const id of both) await page.getByLabel(`Choose ${id}`).waitFor({ state: 'detached' });
  expect(await bar.count()).toBe(0);
  await shoot(page, 'runs-deleted', SIZES[0]);
  await expectSound(page, complaints);
  await toast('2 runs deleted').getByRole('button', { name: 'Undo' }).click();
  for (const id of both) await page.getByLabel(`Choose ${id}`).waitFor();
  expect(complaints.take()).toEqual([]);
  await close(context);
});

test('without motion one picture stands for a run, and nothing fades', async () => {
  const run = await endless('--seed', '9');
  const { context, page, complaints } = await tab(SIZES[0], { reducedMotion: 'reduce' });
  const closed: string[] = [];
  page.on('websocket', (socket) => {
    if (socket.url().includes(`/${run}/frames`)) {
      socket.on('close', () => closed.push(socket.url()));
    }
  });
  await page.goto(lab.origin);
  const card = page.getByRole('article').filter({ hasText: run });
  await card.getByText('Waiting for a picture').waitFor({ state: 'detached' });
  // The run goes on, and its pictures are no longer asked for.
  await expect.poll(() => closed.length).toBe(1);
  const moves = await page.evaluate(() =>
    [...document.querySelectorAll('*')].flatMap((element) => {
      const { transitionDuration, animationName } = getComputedStyle(element);
      const fades = transitionDuration.split(',').some((text) => parseFloat(text) > 0.001);
      return fades || animationName !== 'none' ? [element.outerHTML.slice(0, 80)] : [];
    }),
  );
  expect(moves).toEqual([]);
  await expectSoundAtAllSizes(page, complaints);
  await close(context);
  await lab.call(`/api/runs/${run}/terminate`, 'POST');
});

test('what failed can be asked again, here or from a shell', async () => {
  const { context, page, complaints } = await tab();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const problem = {
    type: 'about:blank',
    title: 'Out of order',
    status: 503,
    detail: 'the shelf is being moved',
    code: 'busy',
    request_id: 'q-1',
  };
  await page.route('**/api/models**', (route) => route.fulfill({ status: 503, json: problem }));
  await page.goto(`${lab.origin}/models`);
  const box = page.getByRole('alert').filter({ hasText: problem.detail });
  await box.getByRole('button', { name: 'Copy curl' }).click();
  await box.getByText('Copied').waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^curl -H "Authorization: Bearer \$CARTRIDGE_TOKEN"/);
  expect(copied).toContain(`${lab.origin}/api/models`);
  await page.unroute('**/api/models**');
  await box.getByRole('button', { name: 'Try again' }).click();
  await box.waitFor({ state: 'detached' });
  expect(complaints.take(/\b503\b/)).toEqual([]);
  await close(context);
});

test('a phone shows fifty runs, and more when asked, as its address says', async () => {
  type Run = Record<string, unknown>;
  const like = await lab.call<Run>(`/api/runs/${ended}`);
  const { context, page, complaints } = await tab(PHONE);
  await page.route('**/api/runs?**', (route) => {
    const runs = Array.from({ length: 120 }, (_, n): Run => {
      const created_at = new Date(Date.UTC(2020, 0, 1) - n * 1000).toISOString();
      return { ...like, id: `r-n${n}`, name: `Run number ${n}`, created_at };
    });
    return route.fulfill({ json: { runs, next_cursor: null } });
  });
  await page.goto(`${lab.origin}/runs?q=number`);
  const cards = page.locator('li .card');
  await expect.poll(() => cards.count()).toBe(50);
  await page.getByRole('button', { name: 'Show 50 more' }).click();
  await page.waitForURL('**most=100');
  await expect.poll(() => cards.count()).toBe(100);
  await page.getByRole('link', { name: /r-n99/ }).click();
  await page.waitForURL('**/runs/r-n99');
  await page.goBack();
  await expect.poll(() => cards.count()).toBe(100);
  // There is no such run to be shown.
  expect(complaints.take(/\b404\b/)).toEqual([]);
  await close(context);
});

test('ten thousand runs are a table that scrolls and is filtered', async () => {
  const N = 10_000;
  const PAGE = 500;
  type Run = Record<string, unknown>;
  const like = await lab.call<Run>(`/api/runs/${ended}`);
  const { context, page, complaints } = await tab();
  await page.route('**/api/runs?**', (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const runs = Array.from({ length: PAGE }, (_, index): Run => {
      const n = from + index;
      const created_at = new Date(Date.UTC(2020, 0, 1) - n * 1000).toISOString();
      return { ...like, id: `r-n${n}`, name: `Run number ${n}`, step: n, created_at };
    });
    const next_cursor = from + PAGE < N ? String(from + PAGE) : null;
    return route.fulfill({ json: { runs, next_cursor } });
  });
  await page.goto(`${lab.origin}/runs`);
  await page
    .getByRole('status')
    .filter({ hasText: /^10,\d{3}$/ })
    .waitFor({ timeout: 20_000 });
  const rows = page.locator('tbody tr');
  // Only those on screen are there, wherever that is.
  await expect.poll(() => rows.count()).toBeLessThan(80);
  // Scrolling through all of them, no frame waits for long.
  const longest = await page.locator('.scroll').evaluate(async (box) => {
    const STEPS = 60;
    let longest = 0;
    let before = performance.now();
    for (let step = 1; step <= STEPS; step += 1) {
      box.scrollTo({ top: (box.scrollHeight * step) / STEPS });
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      longest = Math.max(longest, now - before);
      before = now;
    }
    return longest;
  });
  expect(longest).toBeLessThan(250);
  await page.locator('.scroll').evaluate((box) => box.scrollTo({ top: box.scrollHeight }));
  await page.getByRole('link', { name: `r-n${N - 1}`, exact: true }).waitFor();
  await expect.poll(() => rows.count()).toBeLessThan(80);
  await page.getByLabel('Filter runs').fill('number 4321');
  await page.getByRole('link', { name: 'r-n4321', exact: true }).waitFor();
  await page
    .getByRole('status')
    .filter({ hasText: /^1 of 10,/ })
    .waitFor();
  await expectSound(page, complaints);
  await close(context);
});
