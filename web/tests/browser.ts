/** A browser that remembers every complaint of the pages it shows. */
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';

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

export async function open(
  browser: Browser,
  size: Size,
  more: Parameters<Browser['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page; complaints: Complaints }> {
  const context = await browser.newContext({
    viewport: { width: size.width, height: size.height },
    hasTouch: size.width < 720,
    ...more,
  });
  const complaints = new Complaints(context);
  return { context, page: await context.newPage(), complaints };
}
