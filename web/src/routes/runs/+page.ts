import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';

export async function load({ fetch }) {
  const { runs, next_cursor } = await api.get('/api/runs', { fetch, query: { limit: 50 } });
  live.take(...runs);
  return { nextCursor: next_cursor };
}
