import { api } from '$lib/api/client';
import { missing } from '$lib/api/missing';

export async function load({ fetch, params: { id } }) {
  const contest = await api
    .get('/api/evals/{id}', { fetch, path: { id } })
    .catch((problem) => missing(problem, `tournament ${id}`));
  return { id, contest };
}
