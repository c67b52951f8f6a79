/** TensorBoard, the real one, started from the page of a run. */
import { delimiter, resolve } from 'node:path';

import { expect, test } from 'vitest';

import { SIZES, close, launch, open } from './browser';
import { Lab } from './lab';
import { expectSoundAtAllSizes, shoot } from './sound';

test('a press starts it, and it shows what the run has logged', async () => {
  const pathBefore = process.env.PATH ?? '';
  process.env.PATH = [resolve('../.venv/bin'), pathBefore].join(delimiter);
  const lab = await Lab.start();
  const browser = await launch();
  try {
    const made = ['train', 'CartPole-v1', '--algo', 'ppo', '--steps', '5000'];
    const { run_id } = await lab.command<{ run_id: string }>(...made);
    const { context, page, complaints } = await open(browser, SIZES[0]);
    await page.goto(lab.loginUrl);
    await page.waitForURL(`${lab.origin}/`);
    await page.goto(`${lab.origin}/runs/${run_id}`);
    const press = page.getByRole('button', { name: 'Launch TensorBoard' });
    await press.waitFor();
    await shoot(page, 'run-tensorboard', SIZES[0]);
    await expectSoundAtAllSizes(page, complaints);
    const [board] = await Promise.all([context.waitForEvent('page'), press.click()]);
    await board.waitForURL(/^http:\/\/127[.]0[.]0[.]1:\d+\//, { timeout: 60_000 });
    expect(new URL(board.url()).origin).not.toBe(lab.origin);
    await expect.poll(() => board.title()).toBe('TensorBoard');
    // How its pages look is its own business; what it has read is ours.
    const tags = async () =>
      (await fetch(new URL('/data/plugin/scalars/tags', board.url()))).text();
    await expect.poll(tags, { timeout: 60_000 }).toContain('"train/approx_kl"');
    await board.screenshot({ path: 'screenshots/tensorboard.png' });
    // What its pages complain of is its own business, too.
    await board.close();
    const own = (text: string) => text.includes(lab.origin);
    expect(complaints.take().filter(own)).toEqual([]);
    await expectSoundAtAllSizes(page, complaints);
    await close(context);
  } finally {
    await browser.close();
    await lab.end();
    process.env.PATH = pathBefore;
  }
});
