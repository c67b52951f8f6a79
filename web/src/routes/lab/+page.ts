import { ApiProblem, api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';

export async function load({ fetch, url }) {
  const [{ environments }, { runs }, ...named] = await Promise.all([
    api.get('/api/environments', { fetch, query: { games: true } }),
    api.get('/api/runs', { fetch, query: { limit: 50 } }),
    namedRun(fetch, url.searchParams.get('run')),
    namedRun(fetch, url.searchParams.get('test')),
  ]);
  live.take(...runs, ...named.flat());
  return { environments };
}

/** The run in the address, which may be older than the newest ones; none when it is gone. */
async function namedRun(fetch: typeof globalThis.fetch, id: string | null) {
  if (!id || live.runs.has(id)) return [];
  try {
    return [await api.get('/api/runs/{id}', { fetch, path: { id } })];
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return [];
    throw error;
  }
}
