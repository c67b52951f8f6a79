/** Starts a training from the form: a preset, the numbers in sight, and what was changed beside. */
import { api } from '$lib/api/client';
import type { Run } from '$lib/api/types';

import type { Numbers } from './training-form.svelte';

export interface Wanted extends Numbers {
  envId: string;
  algorithm: string;
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
export function bodyOf({ envId, preset, settings: changed, learning_rate, ...others }: Wanted) {
  const isNumber = typeof learning_rate === 'number';
  // The short form knows numbers only; a schedule is a setting like others.
  const settings = isNumber ? changed : { ...changed, 'trainer.learning_rate': learning_rate };
  const isChanged = Object.keys(settings).length > 0;
  return {
    env_id: envId,
    ...others,
    learning_rate: isNumber ? learning_rate : null,
    ...(preset === null ? {} : { preset }),
    ...(isChanged ? { overrides: settings as Record<string, never> } : {}),
  };
}
