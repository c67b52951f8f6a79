/**
 * Starts a training from the form.
 *
 * Three numbers go with the request itself. A preset and all other settings belong to an
 * experiment, so those that are used here get one; the same settings again use the same one.
 */
import { api } from '$lib/api/client';
import type { Run } from '$lib/api/types';

export interface Wanted {
  envId: string;
  envName: string;
  algorithm: string;
  learning_rate: number;
  total_timesteps: number;
  seed: number;
  preset: string | null;
  /** Changed settings by full path. */
  settings: Record<string, unknown>;
}

export async function launch(wanted: Wanted): Promise<Run | null> {
  const { envId, algorithm, learning_rate, total_timesteps, seed } = wanted;
  const isPlain = wanted.preset === null && Object.keys(wanted.settings).length === 0;
  const body = isPlain
    ? { env_id: envId, algorithm, learning_rate, total_timesteps, seed }
    : {
        experiment_id: await experimentFor(wanted),
        seeds: [seed],
        algorithm: null,
        learning_rate: null,
        total_timesteps: null,
        seed: null,
      };
  const made = await api.post('/api/runs', { body });
  // Only a dry run, which this is not, is answered with what would be made.
  return 'id' in made ? made : null;
}

async function experimentFor(wanted: Wanted): Promise<string> {
  const template = templateOf(wanted);
  const { experiments } = await api.get('/api/experiments', {
    query: { query: template.name, limit: 100 },
  });
  const same = experiments.find(
    ({ name, description }) => name === template.name && description === template.description,
  );
  if (same) return same.id;
  const made = await api.post('/api/experiments', {
    body: { ...template, config: template.config as Record<string, never> },
  });
  return made.id;
}

/** An experiment of these settings; its description tells them, so that it can be found again. */
export function templateOf(wanted: Wanted) {
  const { envId, envName, algorithm, preset, settings } = wanted;
  const changes = {
    'trainer.learning_rate': wanted.learning_rate,
    'trainer.total_timesteps': wanted.total_timesteps,
    ...settings,
  };
  const told = Object.entries(changes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, value]) => `${path}=${JSON.stringify(value)}`);
  return {
    name: ['Lab: ' + envName, algorithm.toUpperCase(), preset].filter(Boolean).join(', '),
    description: `From the lab page: ${told.join(', ')}`,
    preset,
    config: { env_id: envId, algo: algorithm, ...changes } as Record<string, unknown>,
  };
}
