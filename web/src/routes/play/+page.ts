import { api } from '$lib/api/client';

export async function load({ fetch }) {
  const [{ games }, { plays }, { environments }, { sessions }] = await Promise.all([
    api.get('/api/games', { fetch }),
    api.get('/api/play', { fetch, query: { limit: 20 } }),
    api.get('/api/environments', { fetch }),
    api.get('/api/play/environments', { fetch, query: { limit: 20 } }),
  ]);
  const opponents = await Promise.all(
    games.map(({ id }) => api.get('/api/play/opponents', { fetch, query: { game: id } })),
  );
  return { games, opponents, plays, environments, sessions };
}
