/**
 * What the app says and takes back: the curl of every button, the age of a last step, figures that
 * are read out, and Undo. One lab with one endless training.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Complaints, SIZES, close, launch, logIn, open, type Session } from './browser';
import { Lab, pause } from './lab';
import { expectSound, shoot } from './sound';

const SHORT = ['--set', 'evaluation.final_episodes=2', '--set', 'evaluation.episodes=1'];

let lab: Lab;
let browser: Browser;
let session: Session;
let endless: string;

type Run = { id: string; name: string; state: string; seed: number; tuned: Record<string, number> };
type Runs = { runs: (Run & { experiment_id: string | null })[] };
type Experiments = { experiments: { id: string; name: string }[] };

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

/** Does in a shell what a page offers to copy. */
async function inShell(text: string | null): Promise<string> {
  const env = { ...process.env, CARTRIDGE_TOKEN: await lab.token() };
  return (await promisify(execFile)('bash', ['-c', text ?? ''], { env })).stdout;
}

const runOf = (id: string) => lab.call<Run>(`/api/runs/${id}`);

describe.each(SIZES)('at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });
  afterAll(() => close(context));

  test('the curl of a button does what the button does', async () => {
    const name = `It's ${size.name}`;
    const address = new URLSearchParams({
      env: 'CartPole-v1',
      name,
      'trainer.total_timesteps': '5000',
    });
    await page.goto(`${lab.origin}/experiments/new?${address.toString()}`);
    await page.getByLabel('First seed').fill('70');
    await page.getByLabel('Runs', { exact: true }).fill('2');
    await page.getByRole('button', { name: 'curl', exact: true }).click();
    const text = () => page.getByRole('group', { name: 'Command' }).textContent();
    const as = page.getByRole('group', { name: 'As which button' });
    const kept = async () =>
      (await lab.call<Experiments>('/api/experiments')).experiments.filter(
        (it) => it.name === name,
      );

    await as.getByRole('button', { name: 'Dry run' }).click();
    expect(JSON.parse(await inShell(await text()))).toMatchObject({ runs: [{}, {}] });
    expect(await kept()).toEqual([]);

    await as.getByRole('button', { name: 'Save only' }).click();
    const saved = JSON.parse(await inShell(await text())) as { id: string };
    expect((await kept()).map(({ id }) => id)).toEqual([saved.id]);

    await as.getByRole('button', { name: 'Start', exact: true }).click();
    await shoot(page, 'experiment-curl', size);
    await expectSound(page, complaints);
    await inShell(await text());
    const started = (await kept()).filter(({ id }) => id !== saved.id);
    expect(started.length).toBe(1);
    const { runs } = await lab.call<Runs>('/api/runs');
    const made = runs.filter((run) => run.experiment_id === started[0]?.id);
    expect(made.map(({ seed }) => seed).sort()).toEqual([70, 71]);
    for (const { id } of made) await lab.call(`/api/runs/${id}/terminate`, 'POST');
    for (const { id } of made) await lab.ended(id);
  });

  test('the table says how long ago a run stepped, and is ordered by it', async () => {
    await page.goto(`${lab.origin}/runs`);
    // Evaluations of it have its name too.
    const id = page.getByText(endless, { exact: true });
    const row = page.locator(size.width > 720 ? 'tbody tr' : 'li .card', { has: id });
    const ago = row.getByText(/^\d+ (s|min|h) ago$/).first();
    await expect.poll(() => ago.textContent()).toMatch(/^[0-3] s ago$/);
    if (size.width > 720) await page.getByRole('button', { name: 'Last step' }).click();
    else await page.getByLabel('Order').selectOption('seen');
    await page.waitForURL('**sort=-seen');
    const first = page.locator(size.width > 720 ? 'tbody tr:not(.space)' : 'li .card').first();
    await expect.poll(() => first.textContent()).toContain(endless);
    await shoot(page, 'runs-last-step', size);
    await expectSound(page, complaints);
    // What stands still grows old.
    await lab.call(`/api/runs/${endless}/pause`, 'POST');
    await expect.poll(() => ago.textContent(), { timeout: 20_000 }).toMatch(/^[4-9] s ago$/);
    await lab.call(`/api/runs/${endless}/resume`, 'POST');
    await expect.poll(() => ago.textContent(), { timeout: 20_000 }).toMatch(/^[0-3] s ago$/);
  });

  test.each(['/runs/RUN', '/lab?run=RUN'])(
    '%s is read out now and then, and at a turn',
    async (at) => {
      await page.goto(lab.origin + at.replace('RUN', endless));
      const words = page.locator('.live-words');
      await words.waitFor({ state: 'attached' });
      const heard: string[] = [];
      const seen = async () => {
        const text = (await words.textContent()) ?? '';
        if (text && heard.at(-1) !== text) heard.push(text);
        return heard.length;
      };
      await expect.poll(seen, { timeout: 40_000, interval: 200 }).toBe(1);
      expect(heard[0]).toMatch(/^Running\. Step [\d,]+ of 1,000,000,000\. Mean return \+\d/);
      const until = Date.now() + 5_000;
      while (Date.now() < until) {
        await seen();
        await pause(200);
      }
      expect(heard.length, heard.join(' ')).toBe(1);
      await lab.call(`/api/runs/${endless}/pause`, 'POST');
      await expect.poll(() => words.textContent(), { timeout: 8_000 }).toMatch(/^Paused\. Step/);
      await lab.call(`/api/runs/${endless}/resume`, 'POST');
      await expect.poll(() => words.textContent(), { timeout: 8_000 }).toMatch(/^Running\. Step/);
      if (at.startsWith('/lab')) {
        // What the picture shows is told beside it.
        await page.getByRole('region', { name: 'Live feed' }).scrollIntoViewIfNeeded();
        const told = page.getByText(/^Step \d+\. Reward/).first();
        await told.waitFor({ state: 'attached' });
      }
      await expectSound(page, complaints);
    },
  );

  test('a tuning, a pause, a pin and what was asked for are taken back', async () => {
    await page.goto(`${lab.origin}/runs/${endless}`);
    const undo = page.getByRole('button', { name: 'Undo' }).last();
    const control = page.getByRole('group', { name: 'Control' });
    const state = async () => (await runOf(endless)).state;
    await expect.poll(state).toBe('running');
    await control.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText(`${endless} pauses after this update`).waitFor();
    await expect.poll(state).toBe('paused');
    await undo.click();
    await expect.poll(state).toBe('running');

    const tuned = async () => (await runOf(endless)).tuned['trainer.ent_coef'];
    await lab.command('tune', endless, 'trainer.ent_coef=0.01');
    await expect.poll(tuned).toBe(0.01);
    await page.goto(`${lab.origin}/runs/${endless}?panel=tune`);
    await page.getByRole('slider', { name: /^Entropy bonus/ }).fill('300');
    await page.getByRole('button', { name: 'Apply 1' }).click();
    await expect.poll(tuned).not.toBe(0.01);
    await shoot(page, 'tune-undo', size);
    await undo.click();
    await expect.poll(tuned).toBe(0.01);

    await page.goto(`${lab.origin}/runs/${endless}`);
    await control.getByRole('button', { name: 'Evaluate', exact: true }).click();
    const said = page.locator('.toast', { hasText: /plays 10 episodes/ });
    const job = /r-\w+/.exec((await said.textContent()) ?? '')?.[0] ?? '';
    await said.getByRole('button', { name: 'Undo' }).click();
    // It may have been done before it was taken back; then that is said.
    const over = async () => (await runOf(job)).state;
    await expect.poll(over, { timeout: 30_000 }).toMatch(/terminated|succeeded/);
    complaints.take(/\b409\b/);

    const artifacts = page.getByRole('region', { name: 'Artifacts' });
    await artifacts.getByRole('button', { name: /^Pin/ }).first().click();
    const word = page.locator('.toast', { hasText: /step_\d+.* pinned/ });
    await word.waitFor();
    const pinned = artifacts.getByRole('cell', { name: / pinned$/ });
    await pinned.waitFor();
    await word.getByRole('button', { name: 'Undo' }).click();
    await pinned.waitFor({ state: 'detached' });
    await expectSound(page, complaints);
  });
});
