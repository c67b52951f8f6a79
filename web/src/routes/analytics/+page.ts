import { asProblem } from '$lib/api/client';
import type { Problem } from '$lib/api/types';

import { type Choice, sourceOf, sources } from './sources';

/** The newest trainings; the one in the address may be older. */
export async function load({ fetch, url }) {
  const source = sourceOf(url.searchParams);
  let runs: Choice[] = [];
  let problem: Problem | null = null;
  try {
    runs = await sources[source].runs({ fetch });
  } catch (error) {
    // That W&B cannot be asked is told on the page, where the lab's own runs can be chosen.
    if (source === 'local') throw error;
    problem = asProblem(error);
  }
  return { source, runs, problem };
}
