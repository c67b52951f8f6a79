/** Starts a training from the form: a preset, the numbers in sight, and what was changed beside. */
import { api } from '$lib/api/client';
import type { Run } from '$lib/api/types';

export interface Wanted {
  envId: string;
  algorithm: string;
  learning_rate: number;
  total_timesteps: number;
  seed: number;
  preset: string | null;
  /** Changed settings by full path. */
  settings: Record<string, unknown>;
}

export async function launch(wanted: Wanted): Promise<Run | null> {
  const made = await api.post('/api/runs', { body: bodyOf(wanted) });
  // Only a dry run, which this is not, is answered with what would be made.
  return 'id' in made ? made : null;
}

/** The request; what nobody chose is left out, so that its `curl` stays short. */
export function bodyOf({ envId, preset, settings, ...numbers }: Wanted) {
  const isChanged = Object.keys(settings).length > 0;
  return {
    env_id: envId,
    ...numbers,
    ...(preset === null ? {} : { preset }),
    ...(isChanged ? { overrides: settings as Record<string, never> } : {}),
  };
}
