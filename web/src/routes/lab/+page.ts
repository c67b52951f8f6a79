import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';

export async function load({ fetch }) {
  const [{ environments }, { runs }] = await Promise.all([
    api.get('/api/environments', { fetch }),
    api.get('/api/runs', { fetch, query: { limit: 50 } }),
  ]);
  live.take(...runs);
  return { environments };
}
