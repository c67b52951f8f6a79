/**
 * Joining what was loaded with what arrives live.
 *
 * Messages may repeat after a reconnect, and a load may overlap with messages that came while it
 * was under way. Rows, episodes and entries carry rising numbers, so the rule is one: take what is
 * newer than the last number held, and report a gap when numbers are missing.
 */
import type { Entry, Episode, EvaluationEntry, MetricRow, Run, Series } from './api/types';

/** Points held per series; beyond that every second one of the older half goes. */
export const MAX_POINTS = 4000;

export interface Held {
  lastRow: number;
  series: ReadonlyMap<string, Series>;
}

export interface Merged extends Held {
  /** Rows are missing between what was held and what came: load again. */
  gap: boolean;
}

/** Adds the rows that are new. Arrays are copied, never changed in place. */
export function mergeRows(held: Held, rows: readonly MetricRow[]): Merged {
  const fresh = rows.filter((row) => row.row > held.lastRow).sort((a, b) => a.row - b.row);
  if (fresh.length === 0) return { ...held, gap: false };
  const series = new Map(held.series);
  const copied = new Set<string>();
  let lastRow = held.lastRow;
  let gap = false;
  for (const row of fresh) {
    if (row.row === lastRow) continue;
    if (row.row > lastRow + 1) gap = true;
    lastRow = row.row;
    for (const [key, value] of Object.entries(row.values)) {
      let line = series.get(key);
      if (!line || !copied.has(key)) {
        line = line
          ? { ...line, step: [...line.step], t: [...line.t], value: [...line.value] }
          : { key, label: key, step: [], t: [], value: [] };
        series.set(key, line);
        copied.add(key);
      }
      line.step.push(row.step);
      line.t.push(row.t);
      line.value.push(value);
    }
  }
  for (const key of copied) {
    const line = series.get(key);
    if (line && line.step.length > MAX_POINTS) series.set(key, thin(line));
  }
  return { lastRow, series, gap };
}

/**
 * What was found between two steps, with the neighbours that the whole has on both sides: so lines
 * go on to the edges, and cross a stretch in which nothing was measured.
 */
export function closer(
  whole: ReadonlyMap<string, Series>,
  found: readonly Series[],
  [from, to]: readonly [number, number],
): Map<string, Series> {
  const lines = new Map(found.map((line) => [line.key, line]));
  for (const around of whole.values()) {
    const within = lines.get(around.key) ?? { ...around, step: [], t: [], value: [] };
    const before = around.step.findLastIndex((step) => step < from);
    const after = around.step.findIndex((step) => step > to);
    const join = <T>(outer: readonly T[], inner: readonly T[]): T[] => [
      ...outer.slice(Math.max(0, before), before + 1),
      ...inner,
      ...(after < 0 ? [] : outer.slice(after, after + 1)),
    ];
    lines.set(around.key, {
      ...within,
      step: join(around.step, within.step),
      t: join(around.t, within.t),
      value: join(around.value, within.value),
    });
  }
  return lines;
}

/** Halves the resolution of the older half. */
function thin(line: Series): Series {
  const half = line.step.length >> 1;
  const keep = (_: unknown, index: number) => index >= half || index % 2 === 0;
  return {
    ...line,
    step: line.step.filter(keep),
    t: line.t.filter(keep),
    value: line.value.filter(keep),
  };
}

/** The last `limit` episodes, oldest first. */
export function mergeEpisodes(
  held: readonly Episode[],
  arrived: readonly Episode[],
  limit: number,
): Episode[] {
  return mergeBy(held, arrived, (episode) => episode.episode).slice(-limit);
}

/** The last `limit` event entries, oldest first. */
export function mergeEntries(
  held: readonly Entry[],
  arrived: readonly Entry[],
  limit: number,
): Entry[] {
  return mergeBy(held, arrived, (entry) => entry.seq).slice(-limit);
}

/** What evaluations of a run logged, oldest first: each line once. */
export function mergeEvaluations(
  held: readonly EvaluationEntry[],
  arrived: readonly EvaluationEntry[],
  limit: number,
): EvaluationEntry[] {
  const all = new Map<string, EvaluationEntry>();
  for (const item of [...held, ...arrived]) all.set(`${item.run_id} ${item.entry.seq}`, item);
  return [...all.values()].sort((a, b) => a.entry.t - b.entry.t).slice(-limit);
}

/**
 * The log of a run with the lines of its evaluations between its own, by time: a trainer and what
 * watches over it write to different files, so that the last line of one that was killed may be read
 * after that of its end.
 */
export function weave(own: readonly Entry[], evaluations: readonly EvaluationEntry[]): Entry[] {
  const all = [...own, ...evaluations.map((item) => item.entry)];
  // The sort is stable, so lines of the same moment stay in their order.
  return all.sort((a, b) => a.t - b.t);
}

function mergeBy<T>(held: readonly T[], arrived: readonly T[], number: (item: T) => number): T[] {
  const all = new Map<number, T>();
  for (const item of held) all.set(number(item), item);
  for (const item of arrived) all.set(number(item), item);
  return [...all.values()].sort((a, b) => number(a) - number(b));
}

const ENDED: ReadonlySet<Run['state']> = new Set(['succeeded', 'failed', 'terminated', 'lost']);

/** Whether the run has reached a state it will not leave, unless it is started again. */
export function hasEnded(run: Pick<Run, 'state'>): boolean {
  return ENDED.has(run.state);
}

/**
 * Which held runs are gone, given the newest ones that are listed: a snapshot has no hole, so what
 * is as new as its oldest and not in it was deleted or put away meanwhile.
 */
export function goneRuns(held: Iterable<Run>, newest: readonly Run[]): string[] {
  const there = new Set(newest.map(({ id }) => id));
  const oldest = newest.reduce(
    (least, { created_at }) => (created_at < least ? created_at : least),
    newest[0]?.created_at ?? '',
  );
  return [...held]
    .filter((run) => !there.has(run.id) && run.kind !== 'human' && !run.archived)
    .filter((run) => run.created_at > oldest)
    .map(({ id }) => id);
}

/**
 * Of two pictures of one run, the later. A later attempt is later than anything; within one, an
 * end is later than any step, and steps only rise.
 */
export function laterRun(held: Run | undefined, loaded: Run): Run {
  if (!held) return loaded;
  if (held.attempt !== loaded.attempt) return held.attempt > loaded.attempt ? held : loaded;
  if (hasEnded(held) !== hasEnded(loaded)) return hasEnded(held) ? held : loaded;
  return held.step > loaded.step ? held : loaded;
}
