import { api } from '$lib/api/client';
import { missing } from '$lib/api/missing';

export async function load({ fetch, params: { name } }) {
  const model = await api
    .get('/api/models/{name}', { fetch, path: { name } })
    .catch((problem) => missing(problem, `model ${name}`));
  return { model };
}
