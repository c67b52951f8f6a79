import { api } from '$lib/api/client';

/** What there are boards of. Without one in the address it is what was played last. */
export async function load({ fetch, url }) {
  const [{ games }, { environments }] = await Promise.all([
    api.get('/api/games', { fetch }),
    api.get('/api/environments', { fetch }),
  ]);
  let game = url.searchParams.get('game');
  let env = url.searchParams.get('env');
  // Players meet in environments too; their board is that of the environment.
  if (game && environments.some(({ id }) => id === game)) [game, env] = [null, game];
  if (!game && !env) {
    const { matches } = await api.get('/api/matches', { fetch, query: { limit: 1 } });
    const last = matches[0]?.game;
    if (last && games.some(({ id }) => id === last)) game = last;
    else env = last ?? environments[0]?.id ?? null;
  }
  return { games, environments, game, env };
}
