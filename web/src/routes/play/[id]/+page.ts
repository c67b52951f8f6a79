import { error } from '@sveltejs/kit';
import { ApiProblem, api } from '$lib/api/client';

export async function load({ fetch, params }) {
  try {
    const play = await api.get('/api/play/{id}', { fetch, path: { id: params.id } });
    const query = { game: play.game };
    return { play, opponents: await api.get('/api/play/opponents', { fetch, query }) };
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
