/**
 * Connections that are lost: without a word, as behind a tunnel or beside a host that sleeps, where
 * nobody closes them and they only say nothing more; and with one, when the browser is off the
 * network.
 */
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { AWAY, type Complaints, SIZES, type Session, close, launch, logIn, open } from './browser';
import { Lab } from './lab';
import { expectSound, shoot } from './sound';

const SHORT = ['--set', 'evaluation.final_episodes=1', '--set', 'evaluation.episodes=1'];
const OFFLINE = /net::ERR_INTERNET_DISCONNECTED|WebSocket connection to .* failed/;

let lab: Lab;
let browser: Browser;
let session: Session;
/** Trains until it is stopped. */
let endless: string;

/** Stands between a browser and the lab, and hands on all that they say, or nothing. */
class Wire {
  private isFrozen = false;
  private readonly ends = new Set<Socket>();
  private readonly server = createServer((near) => {
    const far = connect(lab.port, '127.0.0.1');
    this.join(near, far);
    this.join(far, near);
  });

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  freeze(): void {
    this.isFrozen = true;
    for (const end of this.ends) end.pause();
  }

  thaw(): void {
    this.isFrozen = false;
    for (const end of this.ends) end.resume();
  }

  end(): void {
    for (const end of this.ends) end.destroy();
    this.server.close();
  }

  private join(from: Socket, to: Socket): void {
    this.ends.add(from);
    from.on('data', (bytes) => to.write(bytes));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.ends.delete(from);
      to.destroy();
    });
    if (this.isFrozen) from.pause();
  }
}

const wire = new Wire();

beforeAll(async () => {
  lab = await Lab.start();
  await wire.start();
  browser = await launch();
  session = await logIn(browser, lab.loginUrl);
  const args = ['train', 'CartPole-v1', '--steps', '1000000000', '--seed', '7', '--detach'];
  endless = (await lab.command<{ run_id: string }>(...args, ...SHORT)).run_id;
});

afterAll(async () => {
  await browser?.close();
  wire.end();
  await lab?.end();
});

describe.each(SIZES)('at $name', (size) => {
  let context: BrowserContext;
  let page: Page;
  let complaints: Complaints;
  const says = (state: string) => page.getByText(state, { exact: true }).waitFor();

  /** The steps of the run as the page has them. */
  const steps = async () =>
    Number((await page.locator('.facts dd').first().textContent())?.replaceAll(/\D/g, ''));
  const goesOn = async () => {
    const before = await steps();
    await expect.poll(steps).toBeGreaterThan(before);
  };

  beforeAll(async () => {
    ({ context, page, complaints } = await open(browser, size, { storageState: session }));
    page.setDefaultTimeout(20_000);
    // Time can be made to pass: nobody waits for what comes after half a minute.
    await page.clock.install();
    await page.goto(`${wire.origin}/runs/${endless}`);
    await says('LIVE');
  });
  afterAll(() => close(context, AWAY));

  test('a lab that has fallen silent is told of, and found again', async () => {
    await goesOn();
    wire.freeze();
    await says('LIVE');
    await page.clock.fastForward('00:40');
    await says('RECONNECTING');
    const before = await steps();
    await shoot(page, 'lost', size);
    wire.thaw();
    await says('LIVE');
    await expect.poll(steps).toBeGreaterThan(before);
    await goesOn();
    // Axe has looked at this page while the lab was away, and would read its styles again.
    expect(complaints.take(AWAY)).toEqual([]);
    await page.reload();
    await says('LIVE');
    await expectSound(page, complaints);
  });

  test('a browser that is off the network says so, and is back with it', async () => {
    await context.setOffline(true);
    await says('RECONNECTING');
    await context.setOffline(false);
    await says('LIVE');
    await goesOn();
    expect(complaints.take(OFFLINE)).toEqual([]);
  });
});

test('a lab in which nothing happens is not taken for one that is lost', async () => {
  const quiet = await Lab.start();
  const { context, page, complaints } = await open(browser, SIZES[0]);
  let streams = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/api/stream')) streams += 1;
  });
  await page.clock.install();
  await page.goto(quiet.loginUrl);
  await page.waitForURL(`${quiet.origin}/`);
  await page.getByText('LIVE', { exact: true }).waitFor();
  expect(streams).toBe(1);
  await page.clock.fastForward('00:20');
  // One that was opened later hears it no sooner than the page.
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        const source = new EventSource('/api/stream');
        source.addEventListener('Alive', () => {
          source.close();
          done();
        });
      }),
  );
  await page.clock.fastForward('00:30');
  await page.getByText('LIVE', { exact: true }).waitFor();
  expect(streams).toBe(2);
  await expectSound(page, complaints);
  await close(context);
  await quiet.end();
});
