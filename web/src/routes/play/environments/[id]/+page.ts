import { error } from '@sveltejs/kit';
import { ApiProblem, api } from '$lib/api/client';

export async function load({ fetch, params }) {
  try {
    const path = { id: params.id };
    return { session: await api.get('/api/play/environments/{id}', { fetch, path }) };
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 404) {
      error(404, {
        message: `There is no session ${params.id}`,
        detail: 'It may have been deleted, or belong to another data folder.',
      });
    }
    throw problem;
  }
}
