import { expect, test } from 'vitest';

import type { Cluster, LoggedMatch, Run } from '$lib/api/types';
import { PACE } from '$lib/state/trends.svelte';

import {
  badge,
  headline,
  hourOf,
  howWell,
  newestPair,
  playing,
  processes,
  scores,
  timeLeft,
  totalPace,
  usage,
  waiting,
} from './overview';

const run = (more: Partial<Run>) =>
  ({
    id: 'r-1',
    kind: 'train',
    state: 'running',
    health: 'fresh',
    activity: 'training',
    eta_seconds: 195,
    created_at: '2026-01-01T00:00:00Z',
    ...more,
  }) as Run;

test.each([
  [[], 0, 0, 'Nothing is playing'],
  [['running'], 0, 0, '1 run playing'],
  [['running', 'starting'], 2, 1, '2 runs playing, 2 waiting, 1 needs a look'],
  [['paused'], 1, 2, 'Nothing is playing, 1 paused, 1 waiting, 2 need a look'],
] as const)('%j, %i waiting, %i alerts', (states, nWaiting, nFiring, text) => {
  const runs = states.map((state) => run({ state }));
  expect(headline(runs, nWaiting, nFiring)).toBe(text);
});

test('who plays, and who waits', () => {
  const runs = [
    run({ id: 'done', state: 'succeeded' }),
    run({ id: 'stands', state: 'paused', created_at: '2026-01-03T00:00:00Z' }),
    run({ id: 'old' }),
    run({ id: 'new', created_at: '2026-01-02T00:00:00Z' }),
    run({ id: 'person', kind: 'human' }),
    run({ id: 'second', state: 'queued', created_at: '2026-01-02T00:00:00Z' }),
    run({ id: 'first', state: 'queued' }),
  ];
  expect(playing(runs).map(({ id }) => id)).toEqual(['new', 'old', 'stands']);
  expect(waiting(runs).map(({ id }) => id)).toEqual(['first', 'second']);
});

test.each([
  [{}, 'running', 'live', '3 min left'],
  [{ activity: 'evaluating' }, 'evaluating', '', '3 min left'],
  [{ state: 'paused', progress: 0.41 }, 'paused', '', '41% done'],
  [{ health: 'stale' }, 'stale', 'warn', 'no estimate'],
  [{ eta_seconds: null }, 'running', 'live', 'no estimate'],
  [{ eta_seconds: 1e9 }, 'running', 'live', 'no end in sight'],
] as const)('a card of %j', (more, word, tone, left) => {
  expect(badge(run(more))).toEqual({ word, tone });
  expect(timeLeft(run(more))).toBe(left);
});

test('the pace of all runs is the sum of theirs', () => {
  const held = (t: number[], value: number[]) => ({
    lastRow: 1,
    series: new Map([[PACE, { key: PACE, label: '', step: t, t, value }]]),
  });
  const { x, values } = totalPace([held([7199, 7200], [100, 300]), held([7190], [50])], 7200, 2);
  expect(values).toEqual([250]);
  expect(x).toEqual([7200]);
  expect(totalPace([], 7200).values).toEqual([]);
});

test('scores of matches, oldest first', () => {
  const match = (wins: number, draws: number, losses: number) =>
    ({ wins, draws, losses }) as LoggedMatch;
  expect(scores([match(3, 0, 1), match(1, 2, 1)]).values).toEqual([0.5, 0.75]);
});

test('the newest pair, from one side', () => {
  const match = (a: string, b: string, wins: number, losses: number, game = 'connect4') =>
    ({ game, a: { key: a }, b: { key: b }, wins, draws: 0, losses }) as LoggedMatch;
  const pair = newestPair([
    match('x', 'y', 3, 1),
    match('x', 'z', 4, 0),
    match('y', 'x', 4, 0),
    match('x', 'y', 4, 0, 'othello'),
  ]);
  expect(pair.map(({ a, wins, losses }) => [a.key, wins, losses])).toEqual([
    ['x', 3, 1],
    ['x', 0, 4],
  ]);
  expect(newestPair([])).toEqual([]);
});

test('processes by kind', () => {
  const pods = ['lab', 'supervisor', 'trainer', 'supervisor'].map((kind) => ({ kind }));
  expect(processes(pods as Cluster['pods'])).toBe('lab 1, supervisors 2, trainers 1');
});

test('what the machine gives', () => {
  const pod = { cpu_percent: 150, memory_bytes: 1000, gpu_percent: null };
  const disk = { disk_bytes: 100, disk_free_bytes: 60 };
  const memory = { memory_bytes: 9000, memory_free_bytes: 4000 };
  const cluster = { pods: [pod, pod], cores: 4, ...disk, ...memory };
  expect(usage(cluster as unknown as Cluster)).toMatchObject({
    cores: 3,
    of: 4,
    labMemory: 2000,
    memory: 5000,
    memoryOf: 9000,
    disk: 40,
    gpu: null,
  });
  const unknown = { ...cluster, memory_bytes: null, memory_free_bytes: null };
  expect(usage(unknown as unknown as Cluster).memory).toBe(null);
});

test.each([
  ['nothing', [], 6400],
  ['a whole hour', [100, 9000], 6400],
  ['half an hour', [8200], 8200],
  ['a moment', [9990], 9940],
])('the curve of %s', (_, x, from) => {
  expect(hourOf(x, 10_000)).toEqual([from, 10_000]);
});

test('a run by self-play is told by its strength, others by what they earn', () => {
  const told = (more: Partial<Run>) => {
    const { label, value } = howWell(run({ mean_reward: 12.34, match_result: null, ...more }), {
      lastRow: 1,
      series: new Map([
        ['arena/elo', { key: 'arena/elo', label: '', step: [1], t: [1], value: [151.6] }],
      ]),
    });
    return `${label} ${value}`;
  };
  expect(told({})).toBe('Reward +12.3');
  expect(told({ algorithm: 'alphazero', mean_reward: null })).toBe('Rating 152');
});
