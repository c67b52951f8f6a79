import { ApiProblem, api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Run } from '$lib/api/types';
import { MOST_RUNS } from '$lib/compared';

export async function load({ fetch, url }) {
  const group = url.searchParams.get('group');
  const named = (url.searchParams.get('runs') ?? '').split(',').filter(Boolean);
  // What can be added.
  const others = api.get('/api/runs', { fetch, query: { limit: 100, kind: 'train,external' } });
  if (group) {
    const path = { id: group };
    const [found, { runs: recent }] = await Promise.all([
      api.get('/api/groups/{id}', { fetch, path }),
      others,
    ]);
    live.take(...found.runs);
    const cut = Math.max(0, found.runs.length - MOST_RUNS);
    return { runs: found.runs.slice(0, MOST_RUNS), missing: [], recent, cut };
  }
  const wanted = [...new Set(named)];
  const ids = wanted.slice(0, MOST_RUNS);
  const [answers, { runs: recent }] = await Promise.all([
    Promise.all(ids.map((id) => find(fetch, id))),
    others,
  ]);
  const runs = answers.flatMap((answer) => answer ?? []);
  live.take(...runs);
  const missing = ids.filter((_, index) => answers[index] === null);
  return { runs, missing, recent, cut: wanted.length - ids.length };
}

async function find(fetch: typeof globalThis.fetch, id: string): Promise<Run | null> {
  try {
    return await api.get('/api/runs/{id}', { fetch, path: { id } });
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}
