import { api } from '$lib/api/client';

/** The runs that have episodes to be seen, newest first. */
export async function load({ fetch, url }) {
  const q = url.searchParams.get('q') ?? '';
  const id = url.searchParams.get('run');
  const kind = 'train,eval,external,human';
  const [page, { environments }, chosen] = await Promise.all([
    api.get('/api/runs', { fetch, query: { kind, limit: 60, ...(q ? { q } : {}) } }),
    api.get('/api/environments', { fetch }),
    // One that is asked for may be older than those in the list.
    id ? api.get('/api/runs/{id}', { fetch, path: { id } }).catch(() => null) : null,
  ]);
  const isWatched = (run: { kind: string; env_id: string }) =>
    // Games of people on a board are stepped through where they were played.
    run.kind !== 'human' || environments.some((env) => env.id === run.env_id);
  return {
    runs: page.runs.filter(isWatched),
    environments,
    chosen,
    missing: id !== null && chosen === null ? id : null,
  };
}
