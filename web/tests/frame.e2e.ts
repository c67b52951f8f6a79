/** What is seen before the app's code is there, and that nothing jumps when the app takes over. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { SIZES, type Size, close, launch, open } from './browser';
import { Lab } from './lab';

const CODE = '**/*.js';
/** What a page complains of while its code is held back, and nobody is logged in. */
const HELD = /net::ERR_FAILED|Failed to fetch dynamically imported module|\b401\b/;

let lab: Lab;
let browser: Browser;

beforeAll(async () => {
  lab = await Lab.start();
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await lab?.end();
});

/** Where the bar and the brand are, and in which colours. */
function look(page: Page) {
  return page.evaluate(() =>
    ['body', '.bar', '.brand', '.brand i'].map((selector) => {
      const element = document.querySelector(selector) as Element;
      const { x, y, height } = element.getBoundingClientRect();
      const { backgroundColor, color } = getComputedStyle(element);
      // A body is as tall as what is in it.
      return { selector, at: selector === 'body' ? null : [x, y, height], backgroundColor, color };
    }),
  );
}

async function withTheme(size: Size, theme: 'light' | 'dark', stored: string | null) {
  const opened = await open(browser, size, { colorScheme: theme });
  if (stored) {
    await opened.page.addInitScript((name) => localStorage.setItem('theme', name), stored);
  }
  return opened;
}

describe.each(SIZES)('$name wide', (size) => {
  test.each([
    ['light', null],
    ['dark', null],
    ['light', 'dark'],
  ] as const)('%s system, %s chosen: the bar is there first, and stays', async (theme, stored) => {
    const { context, page } = await withTheme(size, theme, stored);
    await page.route(CODE, (route) => route.abort());
    await page.goto(`${lab.origin}/login`);
    await page.locator('#frame .brand').waitFor();
    const before = await look(page);
    const ground = before[0]?.backgroundColor;
    expect(ground).toBe((stored ?? theme) === 'dark' ? 'rgb(19, 19, 17)' : 'rgb(244, 243, 239)');
    await page.unroute(CODE);
    await page.reload();
    await page.locator('#main').waitFor();
    expect(await page.locator('#frame').count()).toBe(0);
    expect(await page.locator('.bar').count()).toBe(1);
    expect(await look(page)).toEqual(before);
    await close(context, HELD);
  });
});

test('a wall has its name and no bar, from the first', async () => {
  const { context, page } = await open(browser, SIZES[0]);
  await page.goto(lab.loginUrl);
  await page.waitForURL((url) => url.pathname !== '/login');
  const storageState = await context.storageState();
  await close(context);
  for (const size of SIZES) {
    const { context, page } = await open(browser, size, { storageState });
    const name = page.locator('.brand');
    await page.route(CODE, (route) => route.abort());
    await page.goto(`${lab.origin}/?kiosk`);
    await name.waitFor();
    const before = await name.boundingBox();
    const ground = await page
      .locator('#frame')
      .evaluate((frame) => getComputedStyle(frame).backgroundColor);
    expect(ground).toBe('rgba(0, 0, 0, 0)');
    await page.unroute(CODE);
    await page.reload();
    await page.locator('#main.kiosk').waitFor();
    expect(await page.locator('#frame').count()).toBe(0);
    const { x, y } = before ?? {};
    expect(await name.boundingBox(), size.name).toMatchObject({ x, y });
    await close(context, HELD);
  }
});
