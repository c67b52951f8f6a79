/** What holds for every page, and pictures of it to be looked at. */
import { mkdir } from 'node:fs/promises';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { seriousViolations } from './axe';
import { type Complaints, SIZES } from './browser';

export const SCREENSHOTS = 'screenshots';

/** Nothing sideways, nothing that axe calls serious, no complaints but those the test asked for. */
export async function expectSound(
  page: Page,
  complaints: Complaints,
  expected?: RegExp,
): Promise<void> {
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(over, `sideways scroll at ${page.url()}`).toBeLessThanOrEqual(0);
  expect(await seriousViolations(page), page.url()).toEqual([]);
  expect(complaints.take(expected), page.url()).toEqual([]);
}

/** The same at every width, where the way there is too long to be gone twice. */
export async function expectSoundAtAllSizes(
  page: Page,
  complaints: Complaints,
  expected?: RegExp,
): Promise<void> {
  const before = page.viewportSize();
  for (const size of SIZES) {
    await page.setViewportSize(size);
    // What the page makes of its width is there with the next picture.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    await expectSound(page, complaints, expected);
  }
  if (before) await page.setViewportSize(before);
}

/** Pictures of a page in both themes, and nothing in either that axe calls serious. */
export async function shoot(page: Page, name: string, size: { name: string }): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true });
  for (const theme of ['light', 'dark'] as const) {
    // Colours that fade into each other are neither of the two.
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.screenshot({ path: `${SCREENSHOTS}/${name}-${size.name}-${theme}.png` });
    expect(await seriousViolations(page), `${theme} ${page.url()}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.emulateMedia({ reducedMotion: 'no-preference' });
}
