/** The configuration of a run and what its schema says of it, loaded once. */
import { ApiProblem, api, asProblem } from '$lib/api/client';
import type { Problem } from '$lib/api/types';
import { type Knob, knobsOf } from '$lib/knobs';

export class RunSettings {
  config = $state.raw<Record<string, unknown> | null>(null);
  knobs = $state.raw<Knob[]>([]);
  problem = $state.raw<Problem | null>(null);
  loaded = $state(false);
  /** What the run lets itself be changed. */
  allowed = $derived.by(() => {
    const list = this.config?.overrides_whitelist;
    return new Set(Array.isArray(list) ? list.map(String) : []);
  });
  tunable = $derived.by(() =>
    this.knobs.filter((knob) => knob.tunable !== null && this.allowed.has(knob.path)),
  );
  forkable = $derived.by(() => this.knobs.filter((knob) => this.allowed.has(knob.path)));

  constructor(readonly id: string) {}

  async load(): Promise<void> {
    try {
      const config = await api.get('/api/runs/{id}/config', { path: { id: this.id } });
      this.config = config as Record<string, unknown>;
      this.knobs = await knobsFor(this.config);
      this.problem = null;
      this.loaded = true;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }
}

async function knobsFor(config: Record<string, unknown>): Promise<Knob[]> {
  const { algo, env_id } = config;
  if (typeof algo !== 'string' || typeof env_id !== 'string') return [];
  try {
    return knobsOf(await api.get('/api/schemas/{name}', { path: { name: `${algo}:${env_id}` } }));
  } catch (error) {
    // A trainer that is not ours has settings that only it knows.
    if (error instanceof ApiProblem && error.status === 404) return [];
    throw error;
  }
}
