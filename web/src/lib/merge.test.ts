import { expect, test } from 'vitest';

import type { Entry, Episode, EvaluationEntry, MetricRow, Run, Series } from './api/types';
import {
  MAX_POINTS,
  closer,
  goneRuns,
  laterRun,
  mergeEntries,
  mergeEpisodes,
  mergeEvaluations,
  mergeRows,
  weave,
} from './merge';

const row = (n: number, values: Record<string, number | null> = { loss: n }): MetricRow => ({
  row: n,
  step: n * 10,
  t: 1000 + n,
  values,
});
const held = (...rows: number[]) => ({
  lastRow: rows.at(-1) ?? 0,
  series: new Map<string, Series>([
    [
      'loss',
      {
        key: 'loss',
        label: 'Loss',
        step: rows.map((n) => n * 10),
        t: rows.map((n) => 1000 + n),
        value: rows,
      },
    ],
  ]),
});
const losses = (state: { series: ReadonlyMap<string, Series> }) => state.series.get('loss')?.value;

test('a closer look goes on to the edges, and over a stretch without points', () => {
  const { series } = held(1, 2, 4, 8);
  const [found] = held(3, 4).series.values();
  const look = (line: Series | undefined, from: number, to: number) =>
    losses({ series: closer(series, line ? [line] : [], [from, to]) });
  expect(look(found, 30, 40)).toEqual([2, 3, 4, 8]);
  expect(look(undefined, 50, 60)).toEqual([4, 8]);
  expect(look(undefined, 90, 95)).toEqual([8]);
  expect(look(undefined, 0, 5)).toEqual([1]);
});

test('new rows are added', () => {
  const merged = mergeRows(held(1, 2), [row(3), row(4)]);
  expect(losses(merged)).toEqual([1, 2, 3, 4]);
  expect(merged).toMatchObject({ lastRow: 4, gap: false });
  expect(merged.series.get('loss')?.label).toBe('Loss');
});

test('rows that are held already, repeat or come out of order change nothing', () => {
  const merged = mergeRows(held(1, 2), [row(2), row(4), row(3), row(3), row(1)]);
  expect(losses(merged)).toEqual([1, 2, 3, 4]);
  expect(merged.gap).toBe(false);
});

test('nothing new returns the same series', () => {
  const before = held(1, 2);
  expect(mergeRows(before, [row(1), row(2)]).series).toBe(before.series);
});

test('what was held is not changed in place', () => {
  const before = held(1, 2);
  mergeRows(before, [row(3)]);
  expect(losses(before)).toEqual([1, 2]);
});

test('missing rows are reported', () => {
  const merged = mergeRows(held(1, 2), [row(5)]);
  expect(merged).toMatchObject({ lastRow: 5, gap: true });
});

test('sparse metrics stay sparse, absent values stay absent', () => {
  const merged = mergeRows(held(1), [row(2, { loss: null }), row(3, { 'eval/mean_reward': 9 })]);
  expect(losses(merged)).toEqual([1, null]);
  expect(merged.series.get('eval/mean_reward')).toMatchObject({ step: [30], value: [9] });
});

test('long series lose resolution where they are old, never the newest point', () => {
  const rows = Array.from({ length: MAX_POINTS + 10 }, (_, n) => row(n + 1));
  const merged = mergeRows({ lastRow: 0, series: new Map() }, rows);
  const values = losses(merged) ?? [];
  expect(values.length).toBeLessThanOrEqual(MAX_POINTS);
  expect(values.at(-1)).toBe(MAX_POINTS + 10);
  expect(values[0]).toBe(1);
});

test('episodes and entries are merged by their numbers', () => {
  const episode = (n: number): Episode => ({
    episode: n,
    reward: n,
    length: n,
    timestep: n,
    seed: n,
    terminated: true,
  });
  const merged = mergeEpisodes([1, 2, 3].map(episode), [3, 4].map(episode), 3);
  expect(merged.map((item) => item.episode)).toEqual([2, 3, 4]);

  const entry = (seq: number) => ({ seq, message: `entry ${seq}` }) as Entry;
  const entries = mergeEntries([entry(1), entry(4)], [entry(2), entry(4)], 9);
  expect(entries.map((item) => item.seq)).toEqual([1, 2, 4]);
});

test('lines of evaluations stand between those of the run, each once', () => {
  const entry = (seq: number, t: number) => ({ seq, t }) as Entry;
  const line = (run_id: string, seq: number, t: number): EvaluationEntry => ({
    run_id,
    entry: entry(seq, t),
  });
  const told = mergeEvaluations(
    [line('a', 1, 2), line('a', 2, 5)],
    [line('b', 1, 3), line('a', 1, 2)],
    9,
  );
  expect(told.map((item) => [item.run_id, item.entry.seq])).toEqual([
    ['a', 1],
    ['b', 1],
    ['a', 2],
  ]);
  expect(weave([entry(1, 1), entry(2, 4)], told).map((item) => item.t)).toEqual([1, 2, 3, 4, 5]);
  expect(weave([entry(1, 1), entry(2, 4), entry(3, 3)], []).map((item) => item.t)).toEqual([
    1, 3, 4,
  ]);
});

test('what a snapshot should have and has not is gone', () => {
  const run = (id: string, created_at: string, more: Partial<Run> = {}) =>
    ({ id, created_at, kind: 'train', archived: false, ...more }) as Run;
  const held = [
    run('older', '1'),
    run('there', '3'),
    run('deleted', '4'),
    run('put-away', '4', { archived: true }),
    run('played', '4', { kind: 'human' }),
  ];
  expect(goneRuns(held, [run('new', '5'), run('there', '3'), run('old', '2')])).toEqual([
    'deleted',
  ]);
  expect(goneRuns(held, [])).toEqual(['older', 'there', 'deleted']);
});

test('the later picture of a run wins', () => {
  const run = (step: number, state: Run['state'] = 'running', attempt = 1) =>
    ({ step, state, attempt }) as Run;
  expect(laterRun(undefined, run(1)).step).toBe(1);
  expect(laterRun(run(5), run(4)).step).toBe(5);
  expect(laterRun(run(5), run(6)).step).toBe(6);
  expect(laterRun(run(5, 'succeeded'), run(5)).state).toBe('succeeded');
  expect(laterRun(run(9), run(5, 'terminated')).state).toBe('terminated');
  expect(laterRun(run(5), run(5, 'stopping')).state).toBe('stopping');
  expect(laterRun(run(5), run(5, 'paused')).state).toBe('paused');
  // Started again from a checkpoint, it is at an earlier step.
  expect(laterRun(run(9, 'failed'), run(4, 'running', 2)).state).toBe('running');
  expect(laterRun(run(4, 'running', 2), run(9, 'failed')).state).toBe('running');
});
