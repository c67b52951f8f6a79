/** Where the figures come from: the lab itself, or a W&B server that the lab asks for us. */
import { api } from '$lib/api/client';
import type {
  AnalyticsIteration,
  AnalyticsSummary,
  AnalyticsWindows,
  WandbSourceState,
} from '$lib/api/types';

export type SourceName = 'local' | 'wandb';

/** A run that can be chosen. */
export interface Choice {
  run_id: string;
  name: string;
  state: string;
}

export interface Shown {
  summary: Pick<AnalyticsSummary, 'kpis' | 'completeness'>;
  history: AnalyticsWindows;
  iterations: AnalyticsWindows;
}

export interface Source {
  runs: (options?: { fetch: typeof fetch }) => Promise<Choice[]>;
  ask: (id: string, iterations: number) => Promise<Shown>;
  iteration: (id: string, window: number, signal?: AbortSignal) => Promise<AnalyticsIteration>;
}

/** Runs that are offered. */
const RUNS = { limit: 30 };

const local: Source = {
  async runs(options) {
    return (await api.get('/api/analytics/runs', { ...options, query: RUNS })).runs;
  },
  async ask(id, limit) {
    const path = { id };
    const [summary, history, iterations] = await Promise.all([
      api.get('/api/analytics/runs/{id}/summary', { path }),
      api.get('/api/analytics/runs/{id}/history', { path }),
      api.get('/api/analytics/runs/{id}/iterations', { path, query: { limit } }),
    ]);
    return { summary, history, iterations };
  },
  iteration(id, iteration, signal) {
    const path = { id, iteration };
    const asked = { path, ...(signal ? { signal } : {}) };
    return api.get('/api/analytics/runs/{id}/iterations/{iteration}', asked);
  },
};

const wandb: Source = {
  async runs(options) {
    return (await api.get('/api/wandb/runs', { ...options, query: RUNS })).runs;
  },
  async ask(id, limit) {
    const path = { id };
    const [{ source, run }, history, iterations] = await Promise.all([
      api.get('/api/wandb/runs/{id}/summary', { path }),
      api.get('/api/wandb/runs/{id}/history', { path }),
      api.get('/api/wandb/runs/{id}/iterations', { path, query: { limit } }),
    ]);
    const worst = [source, history.source, iterations.source].reduce((worst, other) =>
      other.age_seconds > worst.age_seconds ? other : worst,
    );
    const summary = { kpis: run.kpis, completeness: [stateOf(worst)] };
    return { summary, history, iterations };
  },
  iteration(id, iteration, signal) {
    const path = { id, iteration };
    const asked = { path, ...(signal ? { signal } : {}) };
    return api.get('/api/wandb/runs/{id}/iterations/{iteration}', asked);
  },
};

export const sources: Record<SourceName, Source> = { local, wandb };

export const sourceOf = (search: URLSearchParams): SourceName =>
  search.get('source') === 'wandb' ? 'wandb' : 'local';

/** How good an answer of W&B is, as the sources of a run are told. */
export function stateOf(source: WandbSourceState): AnalyticsSummary['completeness'][number] {
  const age = Math.round(source.age_seconds);
  const asOf = `${source.entity}/${source.project}, as of ${age} s ago`;
  return {
    source: 'wandb',
    state: source.stale ? 'stale' : 'ok',
    detail: source.trouble ? `${source.trouble.detail}; shown is ${asOf}` : asOf,
  };
}
