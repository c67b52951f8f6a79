import { api } from '$lib/api/client';

export async function load({ fetch }) {
  const [{ games }, { plays }] = await Promise.all([
    api.get('/api/games', { fetch }),
    api.get('/api/play', { fetch, query: { limit: 20 } }),
  ]);
  return { games, plays };
}
