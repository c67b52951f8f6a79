/** What is said where a run has no episode to be seen, what can be done, and the same for a shell. */
import type { Environment, Run } from '$lib/api/types';
import { hasEnded } from '$lib/merge';
import { urls } from '$lib/urls';

export interface Empty {
  says: string;
  label: string;
  href: string;
  path: string;
  /** With one it is a change. */
  body?: Record<string, unknown>;
}

export function emptyOf(
  run: Pick<Run, 'id' | 'kind' | 'of_run' | 'checkpoint_step' | 'state'>,
  env: Pick<Environment, 'is_game'> | null,
): Empty {
  const { id, kind } = run;
  if (kind === 'human') {
    const says = 'Nothing of it was played yet.';
    return env?.is_game
      ? { says, label: 'Open the game', href: urls.game(id), path: `/api/play/${id}` }
      : { says, label: 'Open it', href: urls.session(id), path: `/api/play/environments/${id}` };
  }
  if (!hasEnded(run)) {
    const says = 'No episode of it has ended yet.';
    return { says, label: 'Watch it', href: urls.run(id), path: `/api/runs/${id}/episodes` };
  }
  const says = 'No episode of it was recorded.';
  const policy = kind === 'train' && run.checkpoint_step !== null ? id : run.of_run;
  // Networks at boards are measured by matches, of which no episodes are kept.
  if (policy === null || env?.is_game)
    return { says, label: 'Open the run', href: urls.run(id), path: `/api/runs/${id}` };
  return {
    says,
    label: 'Evaluate its policy',
    href: urls.evaluations({ new: 'policy', run: policy }),
    path: `/api/runs/${policy}/evaluate`,
    body: { checkpoint: 'latest', episodes: 20 },
  };
}
