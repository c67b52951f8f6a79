/**
 * The app on a server of files that knows no lab: told a lab's address and a token, it does there
 * what it does at home, when that lab lets its origin in.
 */
import { readFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { SIZES, close, launch, open } from './browser';
import { Lab } from './lab';
import { expectSoundAtAllSizes } from './sound';

const APP = 'build';
/** What a browser says of a lab that has not let in the origin of its page. */
const NOT_LET_IN = /blocked by CORS policy|\b403\b|net::ERR_FAILED/;
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

let files: Server;
let home: string;
let browser: Browser;
let lab: Lab;
let other: Lab;
let trained: string;

beforeAll(async () => {
  files = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://files');
    const name = extname(pathname) ? pathname : '/index.html';
    const content = await readFile(join(APP, name)).catch(() => null);
    response.writeHead(content ? 200 : 404, { 'content-type': TYPES[extname(name)] ?? '' });
    response.end(content);
  });
  await new Promise<void>((listening) => files.listen(0, '127.0.0.1', listening));
  home = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  lab = await Lab.start('--allow-origin', home);
  other = await Lab.start();
  browser = await launch();
  const short = ['--set', 'evaluation.final_episodes=1', '--capture-video'];
  const train = ['train', 'CartPole-v1', '--steps', '10000', '--seed', '3', ...short];
  trained = (await lab.command<{ run_id: string }>(...train)).run_id;
  await lab.ended(trained);
});

afterAll(async () => {
  await browser?.close();
  await Promise.all([lab?.end(), other?.end()]);
  files?.close();
});

test('streams, sockets, files and films come from a lab on another origin', async () => {
  const { context, page, complaints } = await open(browser, SIZES[0]);
  await page.goto(`${home}/runs/${trained}`);
  await page.waitForURL(`${home}/login?next=*`);
  const enter = page.getByRole('button', { name: 'Log in' });

  // A lab that has not let this origin in cannot be told from one that is away.
  await page.getByLabel('Address of the lab').fill(other.origin);
  await page.getByLabel('Token').fill(await other.token());
  await enter.click();
  await page.getByRole('alert').getByText(`--allow-origin ${home}`).waitFor();
  expect(complaints.take(NOT_LET_IN)).toEqual([]);
  await expectSoundAtAllSizes(page, complaints);

  await page.getByLabel('Address of the lab').fill(lab.origin.replace('http://', ''));
  await page.getByLabel('Token').fill('wrong');
  await enter.click();
  await page.getByRole('alert').waitFor();
  expect(complaints.take(/\b401\b/)).toEqual([]);

  await page.getByLabel('Token').fill(await lab.token());
  await page.screenshot({ path: 'screenshots/login-elsewhere-1280-light.png' });
  await enter.click();
  await page.waitForURL(`${home}/runs/${trained}`);
  await page.getByText('LIVE', { exact: true }).waitFor();
  await page.getByRole('img', { name: /^Mean return.* [1-9]\d* points/ }).waitFor();
  await expectSoundAtAllSizes(page, complaints);

  await page.getByRole('button', { name: 'Play video' }).click();
  const film = page.locator('dialog video');
  await expect
    .poll(() => film.evaluate((video: HTMLVideoElement) => video.readyState), { timeout: 10_000 })
    .toBeGreaterThan(1);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('link', { name: 'Download' }).click(),
  ]);
  expect(await readFile(await download.path()).then((file) => file.length)).toBeGreaterThan(1000);
  await page.keyboard.press('Escape');

  // A change, and pictures by a socket.
  await page.goto(`${home}/play`);
  await page.locator('label', { has: page.getByText('Mountain Car', { exact: true }) }).click();
  // What is copied for a shell is asked of the lab, not of whoever has the files.
  expect(await page.locator('pre.curl').first().textContent()).toContain(lab.origin);
  await page.getByRole('button', { name: 'New game' }).click();
  await page.waitForURL(`${home}/play/environments/*`);
  await page.getByText('Ready', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Playing', { exact: true }).waitFor();
  await page.keyboard.press('p');
  await page.getByText('Paused', { exact: true }).waitFor();
  await expectSoundAtAllSizes(page, complaints);

  await page.goto(`${home}/settings`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(`${home}/login`);
  await page.goto(`${home}/runs`);
  await page.waitForURL(`${home}/login?next=*`);
  expect(complaints.take()).toEqual([]);
  await close(context);
});
