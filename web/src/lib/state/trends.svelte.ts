/** The last hour of several runs: mean reward and pace, loaded once and kept up by the live feed. */
import { SvelteMap } from 'svelte/reactivity';
import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { FeedMessage, Run } from '$lib/api/types';
import { type Held, mergeRows } from '$lib/merge';

export const REWARD = 'rollout/ep_rew_mean';
export const PACE = 'time/fps';

const HOUR_S = 3600;
const POINTS = 120;

export class Trends {
  runs = new SvelteMap<string, Held>();

  #asked = new Set<string>();

  /** Listens until the returned function is called. */
  start(): () => void {
    return live.listen((message) => this.#receive(message));
  }

  /** Loads those that were not loaded yet. */
  want(runs: readonly Run[]): void {
    for (const run of runs) {
      if (this.#asked.has(run.id)) continue;
      this.#asked.add(run.id);
      void this.#load(run);
    }
  }

  async #load(run: Run): Promise<void> {
    const from = Math.max(0, Math.round(run.step - HOUR_S * (run.steps_per_sec ?? run.step)));
    try {
      const { last_row, series } = await api.get('/api/runs/{id}/metrics', {
        path: { id: run.id },
        query: { keys: `${REWARD},${PACE}`, points: POINTS, from },
      });
      this.runs.set(run.id, {
        lastRow: last_row,
        series: new Map(series.map((line) => [line.key, line])),
      });
    } catch {
      // The figures of the run are there without their curve; a later look tries again.
      this.#asked.delete(run.id);
    }
  }

  #receive(message: FeedMessage): void {
    if (message.type === 'Snapshot') {
      this.#asked.clear();
      this.want([...this.runs.keys()].flatMap((id) => live.runs.get(id) ?? []));
    }
    if (message.type !== 'RunProgress') return;
    const held = this.runs.get(message.run.id);
    if (!held || message.rows.length === 0) return;
    const rows = message.rows.map((row) => ({
      ...row,
      values: Object.fromEntries(
        Object.entries(row.values).filter(([key]) => key === REWARD || key === PACE),
      ),
    }));
    this.runs.set(message.run.id, mergeRows(held, rows));
  }
}
