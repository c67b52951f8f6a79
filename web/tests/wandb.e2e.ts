/**
 * Runs of W&B on the page of analytics. Whom the lab asks is another lab, by its door for `wandb`
 * clients: it is filled by a real one (`make e2e` installs it), fails in every way, goes away, and
 * comes back.
 * The tests build on each other and run in order.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { AWAY, type Complaints, SIZES, close, launch, open } from './browser';
import { Lab } from './lab';
import { SCREENSHOTS, expectSoundAtAllSizes } from './sound';

const ROWS = 250;
const STEPS_A_ROW = 1000;
const WINDOW_STEPS = 10_000;
const N_WINDOWS = (ROWS * STEPS_A_ROW) / WINDOW_STEPS;
/** What the real client is told to do. */
const SCRIPT = `
import wandb
config = {"env_id": "LunarLander-v3"}
with wandb.init(project="lander", name="one", id="abc123", config=config) as run:
    for i in range(1, ${ROWS} + 1):
        run.log({"global_step": ${STEPS_A_ROW} * i, "charts/episodic_return": i, "losses/value_loss": 1 / i})
wandb.init(project="lander", name="two", id="def456", config=config).finish()
`;

let upstream: Lab;
let lab: Lab;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: Complaints;
const keyBefore = process.env.WANDB_API_KEY;

/** Fills the upstream by a `wandb` client that knows nothing of us. */
async function fill(key: string): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    HOME: upstream.data,
    WANDB_BASE_URL: upstream.origin,
    WANDB_API_KEY: key,
    WANDB_ERROR_REPORTING: 'false',
    // Whatever else it might call is at a port where nobody is.
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
  };
  const python = resolve('../.venv/bin/python');
  await promisify(execFile)(python, ['-c', SCRIPT], { cwd: upstream.data, env });
}

type Mood = 'pass' | '429' | '503' | 'malformed' | 'slow';

/** Stands between the two labs, and does to requests what it is told. */
class Between {
  private mood: Mood = 'pass';
  private readonly held = new Set<ServerResponse>();
  private readonly server = createServer((request, response) => {
    void this.answer(request, response).catch(() => response.destroy());
  });

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Whom it has let wait is let go. */
  become(mood: Mood): void {
    this.mood = mood;
    for (const response of this.held) response.destroy();
    this.held.clear();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (this.mood === 'slow') this.held.add(response);
    else if (this.mood === 'malformed') response.end('{"data": {"project"');
    else if (this.mood !== 'pass')
      response.writeHead(Number(this.mood), { 'retry-after': '1' }).end();
    else {
      const headers = {
        authorization: request.headers.authorization ?? '',
        'content-type': 'application/json',
      };
      const body = Buffer.concat(parts);
      const answer = await fetch(upstream.origin + request.url, { method: 'POST', headers, body });
      response.writeHead(answer.status).end(await answer.text());
    }
  }

  end(): void {
    this.become('pass');
    this.server.close();
    this.server.closeAllConnections();
  }
}

const between = new Between();

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  upstream = await Lab.start();
  const { secret } = await upstream.command<{ secret: string }>('token', 'new', '--wandb');
  await fill(secret);
  await between.start();
  // The key is in the environment of the lab alone, and the rest in its folder.
  process.env.WANDB_API_KEY = secret;
  lab = await Lab.start();
  const wandb = { base_url: between.origin, entity: 'lab', project: 'lander', ttl_seconds: 1 };
  const settings = { format: 1, wandb, analytics: { window_steps: WINDOW_STEPS } };
  await writeFile(join(lab.data, 'lab.json'), JSON.stringify(settings));
  browser = await launch();
  ({ context, page, complaints } = await open(browser, SIZES[0]));
  await page.goto(lab.loginUrl);
  await page.waitForURL(`${lab.origin}/`);
});

afterAll(async () => {
  if (keyBefore === undefined) delete process.env.WANDB_API_KEY;
  else process.env.WANDB_API_KEY = keyBefore;
  try {
    await close(context);
  } finally {
    await browser?.close();
    between.end();
    await Promise.all([lab?.end(), upstream?.end()]);
  }
});

const figure = (name: string) =>
  page.locator('.metric', { has: page.getByText(name, { exact: true }) }).locator('.v');
const source = () => page.getByRole('region', { name: 'Sources' });

test('while it is asked there are places for the figures, and then the figures', async () => {
  let answer = () => {};
  const asked = new Promise<void>((done) => (answer = done));
  await page.route('**/api/wandb/runs/abc123/history*', async (route) => {
    await asked;
    await route.continue();
  });
  await page.goto(`${lab.origin}/analytics`);
  await page.getByRole('button', { name: 'Show runs of W&B' }).click();
  const run = page.getByLabel('Run', { exact: true });
  await run.waitFor();
  expect((await run.locator('option').allTextContents()).map((it) => it.trim())).toEqual([
    'def456, two, finished',
    'abc123, one, finished',
  ]);
  await run.selectOption('abc123');
  await page.getByText('Loading the figures').first().waitFor({ state: 'attached' });
  await page.getByRole('status').getByText('loading', { exact: true }).waitFor();
  expect(await page.locator('.metric').count()).toBe(0);
  await expectSoundAtAllSizes(page, complaints);
  answer();

  await expect.poll(() => figure('Return').textContent()).toBe(`+${ROWS.toFixed(1)}`);
  await page.getByText(`${N_WINDOWS} windows`).waitFor();
  await page.getByRole('heading', { name: `Iteration ${N_WINDOWS}` }).waitFor();
  await source().getByText('ok', { exact: true }).waitFor();
  await source()
    .getByText(/lab\/lander, as of \d+ s ago/i)
    .waitFor();
  // A run of another server has no page here.
  expect(await page.getByRole('link', { name: 'Open the run' }).count()).toBe(0);

  await page.getByLabel('Iteration, the last 10').selectOption('20');
  await page.getByRole('heading', { name: 'Iteration 20' }).waitFor();
  await page.getByRole('cell', { name: 'losses/value_loss', exact: true }).waitFor();
  await expectSoundAtAllSizes(page, complaints);
  await page.screenshot({ path: `${SCREENSHOTS}/analytics-wandb-1280-light.png`, fullPage: true });
});

test.each([
  ['429', /was asked enough; it is asked again in \d+ s/],
  ['503', /refused with the status 503/],
  ['malformed', /answered what makes no sense/],
  ['slow', /did not answer within 10 s/],
] as const)('while it answers with %s, what was known is shown and why', async (mood, why) => {
  const known = await figure('Return').textContent();
  between.become(mood);
  await source().getByText(why).waitFor({ timeout: 90_000 });
  await source().getByText('stale', { exact: true }).waitFor();
  await page.getByText('W&B does not answer, these are old').waitFor();
  expect(await figure('Return').textContent()).toBe(known);
  await expectSoundAtAllSizes(page, complaints);
  between.become('pass');
  await source().getByText('ok', { exact: true }).waitFor({ timeout: 90_000 });
  expect(complaints.take()).toEqual([]);
});

test('while it is away, what was known is shown and called old', async () => {
  await upstream.kill();
  await page.getByText('W&B does not answer, these are old').waitFor({ timeout: 30_000 });
  await source().getByText('stale', { exact: true }).waitFor();
  await source()
    .getByText(/shown is lab\/lander, as of \d+ s ago/)
    .waitFor();
  await page.getByRole('heading', { name: 'Iteration 20' }).waitFor();
  expect(await page.locator('.metric').first().getAttribute('class')).toContain('stale');
  await expectSoundAtAllSizes(page, complaints);
  await page.screenshot({ path: `${SCREENSHOTS}/analytics-wandb-stale-1280-light.png` });
});

test('of what nobody knows there is only the trouble, until it is back', async () => {
  // The lab goes, and then it cannot tell what W&B does not.
  const expected = new RegExp(`${AWAY.source}|\\b50[234]\\b`);
  // A lab that has just started remembers nothing of it.
  await lab.kill();
  await lab.up();
  await page.goto(`${lab.origin}/analytics?source=wandb`);
  const trouble = page.getByRole('alert');
  await trouble.waitFor();
  await expectSoundAtAllSizes(page, complaints, expected);
  await page.screenshot({ path: `${SCREENSHOTS}/analytics-wandb-away-1280-light.png` });
  // The lab's own runs can be chosen all the same.
  await page.getByRole('button', { name: 'Local' }).click();
  await page.getByText('Nothing was trained yet').waitFor();
  await page.goBack();
  await trouble.waitFor();
  await upstream.up();
  const run = page.getByLabel('Run', { exact: true });
  await expect
    .poll(async () => {
      if ((await run.count()) > 0) return true;
      await trouble.getByRole('button', { name: 'Try again' }).click({ timeout: 1000 });
      return false;
    })
    .toBe(true);
  await run.selectOption('abc123');
  await expect.poll(() => figure('Return').textContent()).toBe(`+${ROWS.toFixed(1)}`);
  expect(complaints.take(expected)).toEqual([]);
});
