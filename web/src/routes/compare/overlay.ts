/** Several runs in one chart: their colours, their lines, and seeds of one configuration as a band. */
import type { Run, Series } from '$lib/api/types';
import type { Axis } from '$lib/chart/look';
import { MOST_LINES } from '$lib/compared';
import { type Look, looksOfColors } from '$lib/line-looks';
import { smooth } from '$lib/smooth';
import { withoutSeed } from '../runs/table';

export interface Line extends Look {
  key: string;
  name: string;
  /** The runs behind it; several make a band. */
  ids: string[];
}

export interface Curve {
  x: number[];
  value: (number | null)[];
  /** As it was measured, where that is another line; none of several runs. */
  raw: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

const NOTHING: Curve = { x: [], value: [], raw: [], low: [], high: [] };

/** Points of a mean over several runs. */
const POINTS = 200;

/** Lines that a sentence names. */
const MOST_NAMED = 4;

/** The looks of the runs behind lines. */
export function looksOf(lines: readonly Line[]): Map<string, Look> {
  return new Map(lines.flatMap(({ ids, color, dash }) => ids.map((id) => [id, { color, dash }])));
}

/** Runs with the same key differ by their seed alone. */
function seedKey(run: Run): string {
  return run.config_hash ?? run.group ?? run.id;
}

/** Whether there are seeds of one configuration among the runs, to be drawn as a band. */
export function hasSeeds(runs: readonly Run[]): boolean {
  return new Set(runs.map(seedKey)).size < runs.length;
}

/**
 * The lines: one per run, or one per group of seeds. A run has the same colour here as everywhere;
 * where two that are seen together share it, the later is dashed.
 */
export function linesOf(
  runs: readonly Run[],
  colorOf: (id: string) => string,
  grouped: boolean,
): Line[] {
  const lines = new Map<string, Omit<Line, keyof Look>>();
  for (const run of runs) {
    const key = grouped ? seedKey(run) : run.id;
    const line = lines.get(key);
    if (line) line.ids.push(run.id);
    else lines.set(key, { key, name: grouped ? withoutSeed(run.name) : run.name, ids: [run.id] });
  }
  const drawn = [...lines.values()];
  const looks = looksOfColors(drawn.map(({ ids }) => colorOf(ids[0] as string)));
  return drawn.map((line, index) => ({ ...line, ...(looks[index] as Look) }));
}

/** What is said of the lines that are too many to be drawn; nothing where there are none. */
export function saidOfRest(lines: readonly Line[], couldBeBands: boolean): string {
  const rest = lines.slice(MOST_LINES);
  if (rest.length === 0) return '';
  const names = rest
    .slice(0, MOST_NAMED)
    .map(({ name, ids }) => (ids.length > 1 ? `${name} (${ids.length} runs)` : ids[0]));
  const more = rest.length > names.length ? ` and ${rest.length - names.length} more` : '';
  const advice = couldBeBands ? ' With seeds as one there are fewer lines.' : '';
  return (
    `The first ${MOST_LINES} of ${lines.length} lines are drawn, because more cannot be told apart. ` +
    `Left out of the charts: ${names.join('; ')}${more}.${advice}`
  );
}

/** A series on the chosen axis, smoothed; time counts from the run's own start where it is relative. */
export function curveOf(
  line: Series | undefined,
  axis: Axis,
  start: number,
  weight: number,
): Curve {
  if (!line) return NOTHING;
  const x = axis === 'steps' ? line.step : line.t.map((t) => (axis === 'wall' ? t : t - start));
  const raw = weight > 0 ? [...line.value] : [];
  return { x: [...x], value: smooth(x, line.value, weight), raw, low: [], high: [] };
}

/** The mean of several curves where at least two are known, with the least and the greatest. */
export function bandOf(curves: readonly Curve[]): Curve {
  const known = curves.filter(({ x }) => x.length > 0);
  if (known.length < 2) return known[0] ?? NOTHING;
  const begin = Math.min(...known.map(({ x }) => x[0] ?? 0));
  const end = Math.max(...known.map(({ x }) => x.at(-1) ?? 0));
  const band: Curve = { x: [], value: [], raw: [], low: [], high: [] };
  for (let index = 0; index <= POINTS; index += 1) {
    const at = begin + ((end - begin) * index) / POINTS;
    const values = known.flatMap((curve) => valueAt(curve, at) ?? []);
    const isKnown = values.length > 0;
    band.x.push(at);
    band.value.push(isKnown ? values.reduce((sum, it) => sum + it, 0) / values.length : null);
    band.low.push(isKnown ? Math.min(...values) : null);
    band.high.push(isKnown ? Math.max(...values) : null);
  }
  return band;
}

/** Between two points, on the straight line; nothing before the first and after the last. */
export function valueAt({ x, value }: Pick<Curve, 'x' | 'value'>, at: number): number | null {
  const last = x.length - 1;
  if (last < 0 || at < (x[0] ?? 0) || at > (x[last] ?? 0)) return null;
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((x[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  const [left, right] = [value[low] ?? null, value[high] ?? null];
  if (left === null || right === null) return left ?? right;
  const width = (x[high] ?? 0) - (x[low] ?? 0);
  return width > 0 ? left + ((at - (x[low] ?? 0)) / width) * (right - left) : left;
}

/**
 * Curves on one x axis, as uPlot wants them: all places of any, gaps where one has none. What was
 * measured lies behind, so it is apart; `lines` are the least, the greatest and the value of each.
 */
export function align(curves: readonly Curve[]): {
  x: number[];
  raw: (number | null)[][];
  lines: (number | null)[][];
} {
  const places = [...new Set(curves.flatMap(({ x }) => x))].sort((a, b) => a - b);
  const index = new Map(places.map((x, i) => [x, i]));
  const lay = (xs: readonly number[], values: readonly (number | null)[]) => {
    const line: (number | null)[] = new Array(places.length).fill(null);
    xs.forEach((x, i) => (line[index.get(x) ?? 0] = values[i] ?? null));
    return line;
  };
  return {
    x: places,
    raw: curves.map(({ x, raw }) => lay(x, raw)),
    lines: curves.flatMap(({ x, value, low, high }) => [lay(x, low), lay(x, high), lay(x, value)]),
  };
}

/**
 * What an aligned line says at a place of the x axis. Lines have their points at different places:
 * the nearest before; nothing where the line has ended by more than `reach`.
 */
export function readingAt(
  x: readonly number[],
  line: readonly (number | null)[],
  index: number,
  reach: number,
): number | null {
  const last = line.findLastIndex((value) => value !== null);
  if (last < 0 || (x[index] ?? 0) - (x[last] ?? 0) > reach) return null;
  return line.slice(0, index + 1).findLast((value) => value !== null) ?? null;
}

export interface SettingRow {
  path: string;
  values: string[];
  differs: boolean;
}

/** Settings side by side; those that differ first. */
export function diffOf(configs: readonly (readonly [string, string][])[]): SettingRow[] {
  const paths = [...new Set(configs.flatMap((rows) => rows.map(([path]) => path)))];
  const maps = configs.map((rows) => new Map(rows));
  const all = paths.map((path) => {
    const values = maps.map((map) => map.get(path) ?? '–');
    return { path, values, differs: new Set(values).size > 1 };
  });
  return [...all.filter((row) => row.differs), ...all.filter((row) => !row.differs)];
}
