/** The last hour of several runs: how well and how fast, loaded once and kept up by the live feed. */
import { SvelteMap } from 'svelte/reactivity';
import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { FeedMessage, Run } from '$lib/api/types';
import { type Held, mergeRows } from '$lib/merge';
import { SELF_PLAY_KEYS, isSelfPlay } from '$lib/self-play';

export const REWARD = 'rollout/ep_rew_mean';
export const PACE = 'time/fps';

const HOUR_S = 3600;
const POINTS = 120;
const KEYS: ReadonlySet<string> = new Set([REWARD, PACE, ...SELF_PLAY_KEYS]);

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
    const hourAgo = run.step - HOUR_S * (run.steps_per_sec ?? run.step);
    // Self-play is measured seldom: its last match may be older than an hour.
    const from = isSelfPlay(run) ? 0 : Math.max(0, Math.round(hourAgo));
    const keys = isSelfPlay(run) ? [PACE, ...SELF_PLAY_KEYS] : [REWARD, PACE];
    try {
      const { last_row, series } = await api.get('/api/runs/{id}/metrics', {
        path: { id: run.id },
        query: { keys: keys.join(), points: POINTS, from },
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
      values: Object.fromEntries(Object.entries(row.values).filter(([key]) => KEYS.has(key))),
    }));
    this.runs.set(message.run.id, mergeRows(held, rows));
  }
}
