import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';

/** Runs at work and in the queue, which may be older than the newest ones. */
export async function load({ fetch }) {
  const [newest, active, { environments }] = await Promise.all([
    api.get('/api/runs', { fetch, query: { limit: 20 } }),
    api.get('/api/runs', {
      fetch,
      query: { state: 'queued,starting,running,paused,stopping', limit: 100 },
    }),
    api.get('/api/environments', { fetch, query: { games: true } }),
  ]);
  live.take(...newest.runs, ...active.runs);
  return { environments };
}
