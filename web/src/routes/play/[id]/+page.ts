import { error } from '@sveltejs/kit';
import { ApiProblem, api } from '$lib/api/client';

export async function load({ fetch, params }) {
  try {
    const [play, { games }] = await Promise.all([
      api.get('/api/play/{id}', { fetch, path: { id: params.id } }),
      api.get('/api/games', { fetch }),
    ]);
    return { play, games };
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 404) {
      error(404, {
        message: `There is no game ${params.id}`,
        detail: 'It may have been deleted, or belong to another data folder.',
      });
    }
    throw problem;
  }
}
