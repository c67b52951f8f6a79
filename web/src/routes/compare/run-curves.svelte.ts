/** The series of several runs, loaded once and kept up to date by the live feed. */
import { api, asProblem } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Evaluation, Problem, Run, Series } from '$lib/api/types';
import type { Axis } from '$lib/chart/look';
import { type Held, mergeRows } from '$lib/merge';
import { FOCUS_MS, askStretch } from '$lib/state/run-view.svelte';

const POINTS = 400;
const RELOAD_MS = 5_000;

export interface RunCurve extends Held {
  config: Record<string, unknown>;
  /** When its first point was measured, in Unix seconds. */
  start: number;
}

export class RunCurves {
  curves = $state.raw<ReadonlyMap<string, RunCurve>>(new Map());
  /** A stretch of the runs, closer than the whole shows it; without those that have no more. */
  details = $state.raw<ReadonlyMap<string, Held['series']>>(new Map());
  problem = $state.raw<Problem | null>(null);
  loaded = $state(false);

  #loadedAt = 0;
  #again: ReturnType<typeof setTimeout> | undefined;
  #focusing: ReturnType<typeof setTimeout> | undefined;
  /** Counts stretches, so that one that comes late is none. */
  #turn = 0;

  constructor(readonly ids: readonly string[]) {}

  start(): () => void {
    const stop = live.listen((message) => {
      if (message.type === 'Snapshot' && this.loaded) void this.load();
      if (message.type !== 'RunProgress' || message.rows.length === 0) return;
      const held = this.curves.get(message.run.id);
      if (!held) return;
      const merged = mergeRows(held, message.rows);
      this.#put(message.run.id, { ...held, lastRow: merged.lastRow, series: merged.series });
      if (merged.gap) this.#loadAgain();
    });
    void this.load();
    return () => {
      clearTimeout(this.#again);
      clearTimeout(this.#focusing);
      stop();
    };
  }

  /** Loads a stretch of the x axis in more detail. */
  focus(axis: Axis, low: number, high: number): void {
    // Another stretch would be cut off where this one ends.
    this.details = new Map();
    clearTimeout(this.#focusing);
    this.#focusing = setTimeout(() => void this.#loadDetails(axis, low, high), FOCUS_MS);
  }

  async #loadDetails(axis: Axis, low: number, high: number): Promise<void> {
    const turn = (this.#turn += 1);
    const asked = [...this.curves].map(async ([id, { series, start }]) => {
      const from = axis === 'relative' ? start : 0;
      // Where it fails the whole is there, only coarser.
      const found = await askStretch(id, series, axis, low + from, high + from).catch(() => null);
      return found ? [[id, found] as const] : [];
    });
    // All at once: a band is of runs that are known equally well.
    const found = await Promise.all(asked);
    if (turn === this.#turn) this.details = new Map(found.flat());
  }

  /** Rows are missing; all are loaded anew, but not for every message of a storm. */
  #loadAgain(): void {
    clearTimeout(this.#again);
    const wait = Math.max(0, this.#loadedAt + RELOAD_MS - Date.now());
    this.#again = setTimeout(() => void this.load(), wait);
  }

  async load(): Promise<void> {
    this.#loadedAt = Date.now();
    try {
      const found = await Promise.all(this.ids.map((id) => load(id)));
      this.curves = new Map(found);
      this.problem = null;
      this.loaded = true;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  /** All metrics that any of the runs has, without their points. */
  metrics(): Map<string, Series> {
    const all = [...this.curves.values()].flatMap(({ series }) => [...series.values()]);
    return new Map(all.map(({ key, label }) => [key, { key, label, step: [], t: [], value: [] }]));
  }

  #put(id: string, curve: RunCurve): void {
    this.curves = new Map(this.curves).set(id, curve);
  }
}

async function load(id: string): Promise<[string, RunCurve]> {
  const path = { id };
  const [metrics, config] = await Promise.all([
    api.get('/api/runs/{id}/metrics', { path, query: { points: POINTS } }),
    api.get('/api/runs/{id}/config', { path }),
  ]);
  const series = new Map<string, Series>(metrics.series.map((line) => [line.key, line]));
  const start = Math.min(...metrics.series.map((line) => line.t[0] ?? Infinity));
  return [
    id,
    {
      lastRow: metrics.last_row,
      series,
      config: config as Record<string, unknown>,
      start: Number.isFinite(start) ? start : 0,
    },
  ];
}

/** The evaluations of a run that a table shows: the best and the newest. */
export function evaluationsOf(run: Run): [string, Evaluation][] {
  const { best_eval: best, latest_eval: latest } = run;
  if (!best || !latest) return best || latest ? [['Best', (best ?? latest) as Evaluation]] : [];
  return best.step === latest.step
    ? [['Best and newest', best]]
    : [
        ['Best', best],
        ['Newest', latest],
      ];
}
