import { api } from '$lib/api/client';

export async function load({ fetch }) {
  const [{ games }, { environments }] = await Promise.all([
    api.get('/api/games', { fetch }),
    api.get('/api/environments', { fetch }),
  ]);
  return { games, environments };
}
