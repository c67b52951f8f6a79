/** A film of an evaluation, as a browser plays it: over ranges, with seeking. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { SIZES, close, launch, open } from './browser';
import { Lab } from './lab';

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

test('a film of an evaluation plays, and can be sought in', async () => {
  const short = ['--set', 'evaluation.final_episodes=1', '--set', 'evaluation.episodes=1'];
  const { run_id } = await lab.command<{ run_id: string }>(
    ...['train', 'CartPole-v1', '--steps', '20000', ...short, '--capture-video'],
  );
  const { context, page, complaints } = await open(browser, SIZES[0]);
  await page.goto(lab.loginUrl);
  await page.waitForURL(`${lab.origin}/**`);
  const partial = page.waitForResponse((response) => response.status() === 206);
  // In a page of the lab, under its content-security policy.
  const seen = await page.evaluate(async (source) => {
    const video = document.createElement('video');
    video.muted = true;
    document.body.append(video);
    const happens = (name: string) =>
      new Promise((done, failed) => {
        video.addEventListener(name, done, { once: true });
        video.addEventListener('error', () => failed(new Error(video.error?.message)));
      });
    const loaded = happens('loadeddata');
    video.src = source;
    await loaded;
    await video.play();
    const sought = happens('seeked');
    video.currentTime = video.duration - 0.5;
    await sought;
    const ended = happens('ended');
    await video.play();
    await ended;
    const { videoWidth, videoHeight, duration, currentTime } = video;
    return { videoWidth, videoHeight, duration, currentTime };
  }, `/api/runs/${run_id}/eval/latest.mp4`);
  expect((await partial).headers()['content-type']).toBe('video/mp4');
  expect([seen.videoWidth, seen.videoHeight]).toEqual([640, 320]);
  expect(seen.duration).toBeGreaterThan(0.5);
  expect(seen.currentTime).toBeCloseTo(seen.duration, 1);
  expect(complaints.take()).toEqual([]);
  await close(context);
});
