/** What a run used of the machine, as charts that stand beside those of its metrics. */
import type { Resources, Series } from '$lib/api/types';
import type { Axis } from '$lib/chart/look';
import { NONE, bytes } from '$lib/format';

import { type Place, type RunChart, fullRange, xOf } from './charts';

type Column = Exclude<keyof Resources, 'run_id' | 't'>;

type Look = Pick<RunChart, 'title' | 'unit' | 'format'> & { column: Column };

const whole = (value: number | null | undefined) =>
  value == null ? NONE : String(Math.round(value));
const size = (value: number | null | undefined) => bytes(value).join(' ');

const LOOKS: readonly Look[] = [
  { column: 'cpu_percent', title: 'CPU', unit: '%', format: whole },
  { column: 'memory_bytes', title: 'Memory', format: size },
  { column: 'gpu_percent', title: 'GPU', unit: '%', format: whole },
  { column: 'gpu_memory_bytes', title: 'GPU memory', format: size },
];

/** Those that every run has, from the start. */
export const TITLES: readonly string[] = LOOKS.slice(0, 2).map(({ title }) => title);

const PREFIX = 'resources/';

/** Whether a chart, by its name in the address, is one of these. */
export function isResource(key: string | null): boolean {
  return key?.startsWith(PREFIX) ?? false;
}

/** One of the columns, as a file for spreadsheets has it. */
export function columnOf(use: Resources, key: string): Pick<Series, 't' | 'value'> {
  const look = LOOKS.find(({ column }) => PREFIX + column === key);
  return { t: use.t, value: look ? use[look.column] : [] };
}

/**
 * The charts of what was measured, none where nothing was; with a `detail`, that stretch of them. The
 * steps of each measurement are those of the metrics at that moment, so that both have one axis.
 */
export function resourceCharts(
  held: Resources | null,
  detail: Resources | null,
  metrics: ReadonlyMap<string, Series>,
): RunChart[] {
  if (!held) return [];
  const use = detail ?? held;
  const step = stepsAt(longest(metrics), use.t);
  return LOOKS.filter(({ column }) => held[column].some((value) => value !== null)).map(
    ({ column, ...look }) => {
      const key = PREFIX + column;
      const series = { key, label: look.title, step, t: use.t, value: use[column] };
      return { ...look, key, fromZero: true, series };
    },
  );
}

/**
 * Where these charts stand: with the metrics, and as far beyond them as something was measured. While
 * there are no metrics there are no steps either, and time takes their place.
 */
export function placeOf(
  moments: readonly number[],
  metrics: ReadonlyMap<string, Series>,
  { axis, start, zoom }: { axis: Axis; start: number; zoom: [number, number] | null },
): Place {
  const [first = 0, last = 0] = [moments[0], moments.at(-1)];
  if (metrics.size === 0) {
    const at = axis === 'wall' ? first : 0;
    const full = [at, at + Math.max(1, last - first)] as const;
    return { axis: axis === 'wall' ? axis : 'relative', start: first, full, range: zoom ?? full };
  }
  const ends = { t: [first, last], step: stepsAt(longest(metrics), [first, last]) };
  const around = fullRange(metrics, axis, start);
  const within = moments.length > 0 ? xOf(ends, axis, start) : [];
  const full = [Math.min(around[0], ...within), Math.max(around[1], ...within)] as const;
  return { axis, start, full, range: zoom ?? full };
}

/** The moments at the ends of a stretch of the axis, in Unix seconds; with steps, about. */
export function timesOf(
  [low, high]: readonly [number, number],
  { axis, start }: Pick<Place, 'axis' | 'start'>,
  metrics: ReadonlyMap<string, Series>,
): [number, number] {
  switch (axis) {
    case 'wall':
      return [low, high];
    case 'relative':
      return [low + start, high + start];
    case 'steps': {
      const { step, t } = longest(metrics);
      const before = step.findLastIndex((at) => at < low);
      const after = step.findIndex((at) => at > high);
      return [t[before] ?? -Infinity, t[after] ?? Infinity];
    }
  }
}

/** What was measured, with what came after it. */
export function joined(held: Resources, fresh: Resources): Resources {
  const last = held.t.at(-1) ?? -Infinity;
  const from = fresh.t.findIndex((t) => t > last);
  if (from < 0) return held;
  const join = <T>(column: readonly T[], more: readonly T[]) => [...column, ...more.slice(from)];
  return {
    run_id: held.run_id,
    t: join(held.t, fresh.t),
    cpu_percent: join(held.cpu_percent, fresh.cpu_percent),
    memory_bytes: join(held.memory_bytes, fresh.memory_bytes),
    gpu_percent: join(held.gpu_percent, fresh.gpu_percent),
    gpu_memory_bytes: join(held.gpu_memory_bytes, fresh.gpu_memory_bytes),
  };
}

type Way = Pick<Series, 'step' | 't'>;

/** The series that knows most moments of the run. */
function longest(metrics: ReadonlyMap<string, Series>): Way {
  let found: Way = { step: [], t: [] };
  for (const line of metrics.values()) if (line.t.length > found.t.length) found = line;
  return found;
}

/** The steps at rising moments, between those that are known and as far as they are. */
function stepsAt({ step, t }: Way, moments: readonly number[]): number[] {
  let after = 0;
  return moments.map((moment) => {
    while (after < t.length && (t[after] ?? 0) < moment) after += 1;
    const low = Math.max(0, after - 1);
    const high = Math.min(after, t.length - 1);
    const [from = 0, to = 0] = [step[low], step[high]];
    const [begun = 0, ended = 0] = [t[low], t[high]];
    return ended > begun ? from + ((to - from) * (moment - begun)) / (ended - begun) : to;
  });
}
