import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PlayFrame } from '$lib/api/types';

import { LivePlay, type Socket } from './live-play.svelte';

const FRAME: PlayFrame = {
  episode: 1,
  seed: 7,
  phase: 'ready',
  speed: 1,
  step: 0,
  action: null,
  reward: 0,
  total_reward: 0,
  terminated: false,
  truncated: false,
  legal: null,
  observation: null,
  scene: { view: [0, 0, 1, 1], shapes: [] },
};

class Wire implements Socket {
  sent: unknown[] = [];
  readyState = 0;
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.readyState = 3;
  }
  opens() {
    this.readyState = 1;
    this.onopen?.call(this as never, {} as Event);
  }
  shows(frame: Partial<PlayFrame>) {
    const data = JSON.stringify({ ...FRAME, ...frame });
    this.onmessage?.call(this as never, { data } as MessageEvent);
  }
  breaks(code = 1006, reason = '') {
    this.readyState = 3;
    this.onclose?.call(this as never, { code, reason } as CloseEvent);
  }
}

let wires: Wire[];
let play: LivePlay;
const wire = () => wires.at(-1) as Wire;

beforeEach(() => {
  vi.useFakeTimers();
  wires = [];
  play = new LivePlay('r-000000', [], () => {
    wires.push(new Wire());
    return wire();
  });
});
afterEach(() => void vi.useRealTimers());

test('pictures are shown and commands are sent', () => {
  play.start();
  expect(play.connection).toBe('connecting');
  wire().opens();
  wire().shows({});
  expect([play.connection, play.frame?.seed]).toEqual(['live', 7]);
  play.hold([1]);
  play.go();
  play.act(28, 3);
  play.restart(null);
  expect(wire().sent).toEqual([
    { type: 'hold', controls: [1] },
    { type: 'start' },
    { type: 'act', action: 28, step: 3 },
    { type: 'restart', seed: null },
  ]);
});

test('a lost connection is made again, and hears what is held', () => {
  play.start();
  wire().opens();
  wire().shows({ step: 5 });
  play.speed(0.5);
  play.hold([0]);
  wire().breaks();
  expect([play.connection, play.frame?.step]).toEqual(['away', 5]);
  vi.runAllTimers();
  expect(wires.length).toBe(2);
  wire().opens();
  expect(wire().sent).toEqual([
    { type: 'speed', speed: 0.5 },
    { type: 'hold', controls: [0] },
  ]);
  wire().shows({ step: 6, phase: 'paused' });
  expect(play.connection).toBe('live');
});

test('an end that the lab means is not gone against, until asked', () => {
  play.start();
  wire().opens();
  wire().breaks(4001, 'another window');
  vi.runAllTimers();
  expect([wires.length, play.connection, play.reason]).toEqual([1, 'ended', 'another window']);
  play.connect();
  expect([wires.length, play.connection]).toEqual([2, 'connecting']);
});

test('nothing comes after the page is left', () => {
  const leave = play.start();
  wire().opens();
  const left = wire();
  leave();
  left.shows({ step: 9 });
  left.breaks();
  vi.runAllTimers();
  expect([wires.length, play.frame]).toEqual([1, null]);
});

test('episodes are noted when they end and when they are given up', () => {
  play.start();
  wire().opens();
  wire().shows({ step: 9, total_reward: 9, phase: 'over', terminated: true });
  wire().shows({ episode: 2, step: 0 });
  wire().shows({ episode: 3, step: 0 });
  wire().shows({ episode: 3, step: 4, phase: 'playing' });
  wire().shows({ episode: 4, step: 0 });
  expect(play.episodes.map(({ episode, length }) => [episode, length])).toEqual([
    [1, 9],
    [3, 4],
  ]);
});
