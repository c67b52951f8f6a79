/**
 * A trainer that `lab.json` names, in a real browser: how a lab gets one, its arguments as a form,
 * and its run to the end. Also what a viewer meets there.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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

const RED_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

/** A few lines of the protocol, and what it was told as its log. */
const PROGRAM = `
import json, sys
say = lambda **line: print(json.dumps(line), flush=True)
say(type="config", algo="tiny", total_timesteps=300)
for step in (100, 200, 300):
    say(type="metrics", step=step, values={"train/loss": 1 / step})
print("told", sys.argv[1:])
`;

const TRAINERS = {
  tiny: {
    title: 'A tiny trainer',
    env_id: ['Corridor-v0', 'Corridor-v1'],
    command: ['python3', '-c', PROGRAM],
    arguments: {
      learning_rate: {
        type: 'number',
        default: 0.01,
        minimum: 0.0001,
        maximum: 1,
        help: 'How far a step goes.',
      },
      tag: { type: 'string', required: true },
      is_loud: { type: 'boolean' },
    },
  },
};

/** It sends a picture of one red pixel again and again, until it is ended. */
const PAINTER = `
import json, time
say = lambda **line: print(json.dumps(line), flush=True)
say(type="config", algo="paint", env_id="Corridor-v0", capabilities=["frames"])
step = 0
while True:
    step += 1
    say(type="frame", step=step, png="${RED_PIXEL}")
    time.sleep(0.2)
`;

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

const named = (trainers: unknown) =>
  writeFile(join(lab.data, 'lab.json'), JSON.stringify({ trainers }));

describe.each(SIZES)('a named trainer, $name wide', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;

  beforeAll(async () => {
    await named({});
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
  });

  afterAll(() => close(context));

  test('a lab without one says how it gets one', async () => {
    await page.goto(`${lab.origin}/experiments/new`);
    const hint = page.getByText('A trainer of your own');
    expect(await page.getByText('"trainers": {').isVisible()).toBe(false);
    await hint.click();
    await page.getByText('"trainers": {').waitFor();
    await expectSound(page, complaints);
    await shoot(page, 'trainer-hint', size);
  });

  test('it is chosen, filled in and started, and reaches its end', async () => {
    await named(TRAINERS);
    await page.goto(`${lab.origin}/experiments/new`);
    await page.getByLabel('Trainer', { exact: true }).selectOption({ label: 'A tiny trainer' });
    await page.waitForURL('**/experiments/new?trainer=tiny');
    await page.getByRole('heading', { name: 'New run' }).waitFor();

    // What must be given is missed, and what is beyond its bounds is said at once.
    const start = page.getByRole('button', { name: 'Start', exact: true });
    await page.getByText('1 argument is wrong or missing').waitFor();
    expect(await start.isDisabled()).toBe(true);
    const rate = page.getByLabel('Learning rate', { exact: true });
    await rate.fill('2');
    await page.getByText('From 0.0001 to 1.').waitFor();
    await page.getByText('2 arguments are wrong or missing').waitFor();
    await rate.fill('0.5');
    await page.getByLabel('Tag', { exact: true }).fill('--x; $(id)');
    await page.getByLabel('Is loud', { exact: true }).check();
    await page.getByLabel('Environment', { exact: true }).selectOption('Corridor-v1');
    await page.getByLabel('Seed', { exact: true }).fill('1.5');
    await page.getByText('The seed is wrong').waitFor();
    await page.getByLabel('Seed', { exact: true }).fill('7');
    await page.waitForURL(/arg\.learning_rate=0\.5/);
    await page.getByRole('button', { name: 'curl', exact: true }).click();
    const curl = await page.getByRole('group', { name: 'Command' }).textContent();
    expect(curl).toContain(`/api/trainers/tiny/runs`);
    expect(curl).toContain(`"arguments":{"learning_rate":0.5,"tag":"--x; $(id)","is_loud":true}`);
    await expectSound(page, complaints);
    await shoot(page, 'trainer-form', size);

    // By the keyboard alone: the form is sent from its last field.
    await page.getByLabel('Seed', { exact: true }).press('Enter');
    await page.waitForURL('**/runs/r-*');
    const id = new URL(page.url()).pathname.split('/').at(-1) as string;
    await lab.ended(id);
    await page.getByText('succeeded').first().waitFor();
    const run = await lab.call<Record<string, unknown>>(`/api/runs/${id}`);
    expect(run).toMatchObject({ state: 'succeeded', step: 300, seed: 7, env_id: 'Corridor-v1' });
    const config = await lab.call<Record<string, unknown>>(`/api/runs/${id}/config`);
    const told = { learning_rate: 0.5, tag: '--x; $(id)', is_loud: true };
    expect(config).toMatchObject({ trainer_id: 'tiny', arguments: told });

    // The same form again, with what it was told.
    await page.getByRole('link', { name: 'Run again' }).click();
    await page.getByRole('heading', { name: 'New run' }).waitFor();
    expect(await page.getByLabel('Tag', { exact: true }).inputValue()).toBe('--x; $(id)');
    expect(await page.getByLabel('Environment', { exact: true }).inputValue()).toBe('Corridor-v1');
    await page.getByLabel('Trainer', { exact: true }).selectOption({ label: 'DQN' });
    await page.getByRole('heading', { name: 'New experiment' }).waitFor();
    await expectSound(page, complaints);
  });
});

test.each(SIZES)('a viewer sees the form, and is told why it is idle, at $name', async (size) => {
  await named({ plain: { ...TRAINERS.tiny, arguments: {} } });
  const { context, page, complaints } = await openAsViewer(browser, lab, size);
  await page.goto(`${lab.origin}/experiments/new?trainer=plain`);
  await page.getByText('This trainer takes no arguments.').waitFor();
  await page.getByText("is a viewer's; this needs an operator's").waitFor();
  expect(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
  await expectSound(page, complaints);

  // A name that the file does not have, and a file that is wrong.
  await page.goto(`${lab.origin}/experiments/new?trainer=gone`);
  await page.getByText('There is no trainer gone').waitFor();
  await named({ plain: { comand: [] } });
  await page.goto(`${lab.origin}/experiments/new`);
  await page.getByText('did you mean command?').waitFor();
  await page.getByRole('button', { name: 'dqn', exact: true }).waitFor();
  // What is wrong with a file of trainers is a refusal of the list.
  await close(context, /\b422\b/);
});

test.each(SIZES)('the pictures that a trainer sends are on its page, at $name', async (size) => {
  const exec = ['exec', '--env', 'Corridor-v0', '--name', 'painter', '--detach'];
  const command = ['--data', lab.data, '--json', '--', 'python3', '-c', PAINTER];
  const { run_id: id } = await lab.bare<{ run_id: string }>(...exec, ...command);
  const { context, page, complaints } = await open(browser, size, { storageState: session });
  await page.goto(`${lab.origin}/runs/${id}`);
  const card = page.getByRole('region', { name: 'Picture' });
  await card.scrollIntoViewIfNeeded();
  const wide = () => card.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth);
  await expect.poll(wide).toBe(1);
  await page.getByRole('region', { name: 'Policy behavior detected' }).waitFor();
  // The lab knows no corridor, so nothing leads there.
  expect(await page.getByRole('navigation', { name: 'Where' }).getByRole('link').count()).toBe(1);
  await shoot(page, 'run-foreign', size);
  await expectSound(page, complaints);
  await lab.call(`/api/runs/${id}/terminate`, 'POST');
  await lab.ended(id);
  await close(context);
});
