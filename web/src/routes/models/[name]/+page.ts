import { api } from '$lib/api/client';

export async function load({ fetch, params }) {
  return { model: await api.get('/api/models/{name}', { fetch, path: { name: params.name } }) };
}
