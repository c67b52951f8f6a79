/** A browser that remembers every complaint of the pages it shows. */
import { readdir } from 'node:fs/promises';

import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';
import { expect } from 'vitest';

import type { Lab } from './lab';

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const SIZES = [
  { name: '1280', width: 1280, height: 800 },
  { name: '390', width: 390, height: 844 },
] as const;
export type Size = (typeof SIZES)[number];

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ARGS,
  });
}

/** What a page may complain of when its lab goes away, and nothing else. */
export const AWAY =
  /net::ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)|WebSocket connection to .* failed/;

/** What went wrong in the pages of one context. */
export class Complaints {
  readonly all: string[] = [];

  constructor(context: BrowserContext) {
    context.on('page', (page) => this.watch(page));
  }

  /** Complaints since the last call, without those that the test asked for. */
  take(expected?: RegExp): string[] {
    const taken = this.all.splice(0);
    return expected ? taken.filter((text) => !expected.test(text)) : taken;
  }

  private watch(page: Page): void {
    page.on('pageerror', (error) => this.all.push(`page error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error')
        this.all.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText ?? '';
      // Leaving a page ends its requests; that is no failure.
      if (reason !== 'net::ERR_ABORTED') this.all.push(`failed: ${request.url()} ${reason}`);
    });
    // The lab needs nothing from anywhere, and its content policy lets nothing out.
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      const isLocal =
        /^(data|blob|about|chrome-error):$/.test(protocol) || hostname === '127.0.0.1';
      if (!isLocal) this.all.push(`left the lab: ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) this.all.push(`status ${response.status()}: ${response.url()}`);
    });
  }
}

/** Logs in with a code that is used up by it; what a browser remembers of that. */
export async function logIn(browser: Browser, loginUrl: string): Promise<Session> {
  const { context, page } = await open(browser, SIZES[0]);
  await page.goto(loginUrl);
  await page.waitForURL((url) => url.pathname !== '/login');
  const session = await context.storageState();
  await close(context);
  return session;
}

/** A name that nobody has: some are taken once, also where a test is tried twice. */
export function another(name: string): string {
  return `${name} ${Date.now().toString(36)}`;
}

/** Somebody who may only look, and has come in by a token of their own. */
export async function openAsViewer(
  browser: Browser,
  lab: Lab,
  size: Size,
): ReturnType<typeof open> {
  const name = another(`wall ${size.name}`);
  const made = ['token', 'new', '--role', 'viewer', '--name', name];
  const { secret } = await lab.command<{ secret: string }>(...made);
  const opened = await open(browser, size);
  const { page, complaints } = opened;
  await page.goto(`${lab.origin}/login`);
  await page.getByLabel('Or paste the token').fill(secret);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((url) => url.pathname !== '/login');
  expect(complaints.take()).toEqual([]);
  return opened;
}

/** What a browser remembers of a lab: who one is there. */
export type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

/**
 * Waits until a page has fetched the code of all others, which it does when somebody is there: a key
 * that means nothing says so.
 */
export async function loadedAhead(page: Page): Promise<void> {
  await page.keyboard.press('Shift');
  const nodes = (await readdir('build/_app/immutable/nodes')).filter((it) => it.endsWith('.js'));
  await page.waitForFunction((n) => {
    const names = performance.getEntriesByType('resource').map(({ name }) => name);
    return new Set(names.filter((name) => /\/nodes\/.*[.]js$/.test(name))).size >= n;
  }, nodes.length);
}

/** Who watches the pages of a context. */
const watched = new WeakMap<BrowserContext, Complaints>();

export async function open(
  browser: Browser,
  size: { width: number; height: number },
  more: Parameters<Browser['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page; complaints: Complaints }> {
  const context = await browser.newContext({
    viewport: { width: size.width, height: size.height },
    hasTouch: size.width < 720,
    ...more,
  });
  const complaints = new Complaints(context);
  watched.set(context, complaints);
  return { context, page: await context.newPage(), complaints };
}

/**
 * Closes the pages of a context, which may not have complained since somebody looked last, but for
 * what the test asked for.
 */
export async function close(context: BrowserContext, expected?: RegExp): Promise<void> {
  const left = watched.get(context)?.take(expected);
  await context.close();
  expect(left, 'complaints after the last look').toEqual([]);
}
