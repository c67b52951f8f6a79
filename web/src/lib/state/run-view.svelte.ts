/** A run and its curves: loaded once, then kept up to date by the live feed. */
import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { FeedMessage, Metrics, Run, Series } from '$lib/api/types';
import type { Axis } from '$lib/chart/look';
import { closer, hasEnded, mergeRows } from '$lib/merge';

import { Followed } from './followed.svelte';

const POINTS = 500;
/** A gap in the numbering loads everything again, at most this often. */
const RELOAD_MS = 5_000;
/** A zoom is looked at closer when it has come to rest. */
export const FOCUS_MS = 150;

type Answer = [Run, Metrics];

/** The curves of a run, in as many points as charts can show. */
export function askCurves(id: string, from: { fetch?: typeof fetch } = {}): Promise<Metrics> {
  return api.get('/api/runs/{id}/metrics', { path: { id }, query: { points: POINTS }, ...from });
}

/**
 * A stretch of the `whole` curves of a run in more detail, between two steps or two moments; null
 * where nothing was measured in it.
 */
export async function askStretch(
  id: string,
  whole: ReadonlyMap<string, Series>,
  axis: Axis,
  low: number,
  high: number,
): Promise<ReadonlyMap<string, Series> | null> {
  const steps = axis === 'steps' ? ([low, high] as const) : stepsBetween(whole, low, high);
  if (!steps) return null;
  const from = Math.max(0, Math.floor(steps[0]));
  const to = Math.max(0, Math.ceil(steps[1]));
  const query = { points: 2 * POINTS, from, to };
  const found = await api.get('/api/runs/{id}/metrics', { path: { id }, query });
  return closer(whole, found.series, [from, to]);
}

/** The steps that were taken between two moments; null where there were none. */
export function stepsBetween(
  series: ReadonlyMap<string, Series>,
  low: number,
  high: number,
): [number, number] | null {
  let [from, to] = [Infinity, -Infinity];
  for (const line of series.values()) {
    line.t.forEach((t, index) => {
      const step = line.step[index] ?? 0;
      if (t <= high && step > to) to = step;
      if (t >= low && step < from) from = step;
    });
  }
  return from <= to ? [from, to] : null;
}

export class RunView {
  series = $state.raw<ReadonlyMap<string, Series>>(new Map());
  /** A stretch of the series, closer than the whole shows it. */
  detail = $state.raw<ReadonlyMap<string, Series> | null>(null);
  run: Run | undefined = $derived.by(() => live.runs.get(this.id));
  ended = $derived.by(() => this.run !== undefined && hasEnded(this.run));

  readonly state: Followed<Answer>;

  #lastRow = 0;
  #loadedAt = 0;
  #again: ReturnType<typeof setTimeout> | undefined;
  #focusing: ReturnType<typeof setTimeout> | undefined;

  /** With curves that came `early` something is shown before the stream is there. */
  constructor(
    readonly id: string,
    early: Metrics | null = null,
  ) {
    this.state = new Followed({
      ask: () => {
        this.#loadedAt = Date.now();
        return Promise.all([api.get('/api/runs/{id}', { path: { id } }), askCurves(id)]);
      },
      take: ([run, metrics]) => {
        live.take(run);
        this.#take(metrics);
      },
      hear: (message) => this.#hear(message),
    });
    if (early) {
      this.#take(early);
      this.state.loaded = true;
    }
  }

  /** Loads and listens until the returned function is called. */
  start(): () => void {
    const stop = this.state.start();
    return () => {
      clearTimeout(this.#again);
      clearTimeout(this.#focusing);
      stop();
    };
  }

  /** Loads a stretch in more detail: between two steps, or two moments. */
  focus(axis: Axis, low: number, high: number): void {
    clearTimeout(this.#focusing);
    this.#focusing = setTimeout(() => void this.#loadDetail(axis, low, high), FOCUS_MS);
  }

  async #loadDetail(axis: Axis, low: number, high: number): Promise<void> {
    // Where it fails the whole is there, only coarser.
    this.detail = await askStretch(this.id, this.series, axis, low, high).catch(() => null);
  }

  #take(metrics: Metrics): void {
    // The same as before is not drawn again.
    if (this.state.loaded && metrics.last_row === this.#lastRow) return;
    this.#lastRow = metrics.last_row;
    this.series = new Map(metrics.series.map((line) => [line.key, line]));
  }

  #hear(message: FeedMessage): void {
    if (message.type !== 'RunProgress' || message.run.id !== this.id) return;
    const merged = mergeRows({ lastRow: this.#lastRow, series: this.series }, message.rows);
    this.#lastRow = merged.lastRow;
    this.series = merged.series;
    if (merged.gap) this.#loadAgain();
  }

  #loadAgain(): void {
    clearTimeout(this.#again);
    const wait = Math.max(0, this.#loadedAt + RELOAD_MS - Date.now());
    this.#again = setTimeout(() => void this.state.load(), wait);
  }
}
