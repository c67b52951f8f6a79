/** Other episodes that began as one did: same environment, same seed. */
import { api } from '$lib/api/client';
import type { Episode, Run } from '$lib/api/types';

export interface Twin {
  run: Run;
  episode: Episode;
}

/** Runs that are looked through, episodes of each, and how many runs at once. */
const RUNS = 24;
const EPISODES = 20;
const AT_ONCE = 4;

/** The runs of an environment that may have one, newest first. */
export async function candidates(env: string, signal: AbortSignal): Promise<Run[]> {
  const { runs } = await api.get('/api/runs', {
    query: { env, kind: 'train,eval,external,human', limit: RUNS },
    signal,
  });
  return runs;
}

/** Episodes of `runs` with this seed, told as they are found. */
export async function findTwins(
  runs: readonly Run[],
  seed: number,
  isItself: (run: string, episode: number) => boolean,
  found: (twins: Twin[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const left = runs.filter((run) => run.episodes > 0 || run.kind === 'human');
  const look = async () => {
    for (let run = left.shift(); run && !signal.aborted; run = left.shift()) {
      const of = run;
      const { episodes } = await api.get('/api/runs/{id}/episodes', {
        path: { id: of.id },
        query: { seed, sort: 'number', order: 'desc', limit: EPISODES },
        signal,
      });
      const twins = episodes
        .filter((episode) => !isItself(of.id, episode.episode))
        .map((episode) => ({ run: of, episode }));
      if (twins.length > 0) found(twins);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
}

/** `r-7f3k2m/12` of an address; null where it is none. */
export function parseOther(text: string | null): { run: string; episode: number } | null {
  const parts = /^([^/]+)\/(\d+)$/.exec(text ?? '');
  return parts ? { run: parts[1] as string, episode: Number(parts[2]) } : null;
}
