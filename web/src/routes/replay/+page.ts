import { api } from '$lib/api/client';

import { runsPage } from './runs';

/** The runs that have episodes to be seen, newest first. */
export async function load({ fetch, url }) {
  const q = url.searchParams.get('q') ?? '';
  const id = url.searchParams.get('run');
  const [page, { environments }, chosen] = await Promise.all([
    runsPage(q, null, fetch),
    api.get('/api/environments', { fetch, query: { games: true } }),
    // One that is asked for may be older than those in the list.
    id ? api.get('/api/runs/{id}', { fetch, path: { id } }).catch(() => null) : null,
  ]);
  return {
    runs: page.runs,
    next: page.next_cursor,
    environments,
    chosen,
    missing: id !== null && chosen === null ? id : null,
  };
}
