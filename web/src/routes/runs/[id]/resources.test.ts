import { describe, expect, test } from 'vitest';
import type { Resources, Series } from '$lib/api/types';

import { columnOf, isResource, joined, placeOf, resourceCharts, timesOf } from './resources';

const use = (t: number[], cpu: (number | null)[], gpu: (number | null)[] = t.map(() => null)) => ({
  run_id: 'r-abc123',
  t,
  cpu_percent: cpu,
  memory_bytes: cpu.map((value) => value && 1_500_000),
  gpu_percent: gpu,
  gpu_memory_bytes: gpu,
});

/** Two updates of a training that began at 100 s, and an evaluation. */
const metrics = new Map<string, Series>(
  [
    { key: 'eval/mean_reward', label: '', step: [1000], t: [110], value: [1] },
    { key: 'time/fps', label: '', step: [1000, 3000], t: [110, 120], value: [1, 1] },
  ].map((line) => [line.key, line]),
);
const none = new Map<string, Series>();

describe('the charts', () => {
  const titles = (held: Resources | null) =>
    resourceCharts(held, null, metrics).map(({ title }) => title);

  test('are of what was measured', () => {
    expect(titles(null)).toEqual([]);
    expect(titles(use([], []))).toEqual([]);
    expect(titles(use([101, 105], [50, null]))).toEqual(['CPU', 'Memory']);
    expect(titles(use([101, 105], [50, 60], [null, 3]))).toEqual([
      'CPU',
      'Memory',
      'GPU',
      'GPU memory',
    ]);
  });

  test('have the steps of their moments', () => {
    const held = use([101, 110, 115, 117.5, 120, 130], [1, 2, 3, null, 4, 5]);
    const [cpu] = resourceCharts(held, null, metrics);
    expect(cpu?.series.step).toEqual([1000, 1000, 2000, 2500, 3000, 3000]);
    expect(cpu?.series.value).toEqual([1, 2, 3, null, 4, 5]);
    expect(resourceCharts(held, null, none)[0]?.series.step).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('stay where a closer look finds nothing', () => {
    const charts = resourceCharts(use([101], [50]), use([], []), metrics);
    expect(charts.map(({ title, series }) => [title, series.value.length])).toEqual([
      ['CPU', 0],
      ['Memory', 0],
    ]);
  });

  test('say what they show with its unit', () => {
    const charts = resourceCharts(use([101], [150.6]), null, metrics);
    expect(charts.map(({ format, unit, series }) => [format(series.value[0]), unit])).toEqual([
      ['151', '%'],
      ['1.5 MB', undefined],
    ]);
    expect(charts.map(({ format }) => format(null).trim())).toEqual(['–', '–']);
  });
});

test('a chart is found by its name, and is a file', () => {
  const [cpu] = resourceCharts(use([101], [50]), null, metrics);
  expect([isResource(cpu?.key ?? null), isResource('train/loss'), isResource(null)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(columnOf(use([101], [50]), cpu?.key ?? '')).toEqual({ t: [101], value: [50] });
  expect(columnOf(use([101], [50]), 'resources/unheard_of')).toEqual({ t: [101], value: [] });
});

describe('they stand', () => {
  const place = (
    moments: number[],
    axis: 'steps' | 'wall' | 'relative',
    of = metrics,
    zoom: [number, number] | null = null,
  ) => {
    const { start, ...rest } = placeOf(moments, of, { axis, start: 110, zoom });
    return { from: start, ...rest };
  };

  test('with the metrics, and as far beyond them as was measured', () => {
    expect(place([101, 125], 'steps')).toEqual({
      axis: 'steps',
      from: 110,
      full: [0, 3000],
      range: [0, 3000],
    });
    expect(place([101, 125], 'wall').full).toEqual([101, 125]);
    expect(place([112, 115], 'wall').full).toEqual([110, 120]);
    expect(place([101, 125], 'relative').full).toEqual([-9, 15]);
    expect(place([], 'relative').full).toEqual([0, 10]);
  });

  test('where one has zoomed', () => {
    const { full, range } = place([101, 125], 'steps', metrics, [500, 700]);
    expect([full, range]).toEqual([
      [0, 3000],
      [500, 700],
    ]);
  });

  test('over time while there are no steps', () => {
    expect(place([101, 125], 'steps', none)).toEqual({
      axis: 'relative',
      from: 101,
      full: [0, 24],
      range: [0, 24],
    });
    expect(place([101, 125], 'wall', none).full).toEqual([101, 125]);
    expect(place([101], 'steps', none).full).toEqual([0, 1]);
  });
});

test('a stretch of any axis is one of time', () => {
  const times = (ends: [number, number], axis: 'steps' | 'wall' | 'relative') =>
    timesOf(ends, { axis, start: 110 }, metrics);
  expect(times([3, 7], 'wall')).toEqual([3, 7]);
  expect(times([3, 7], 'relative')).toEqual([113, 117]);
  expect(times([1500, 2000], 'steps')).toEqual([110, 120]);
  expect(times([0, 9000], 'steps')).toEqual([-Infinity, Infinity]);
});

test('what comes later is added, and nothing twice', () => {
  const held = use([1, 6], [10, 20]);
  const after = joined(held, use([6, 36, 66], [20, null, 30]));
  expect([after.t, after.cpu_percent]).toEqual([
    [1, 6, 36, 66],
    [10, 20, null, 30],
  ]);
  expect(joined(held, use([6], [20]))).toBe(held);
  expect(joined(use([], []), after)).toEqual(after);
});
