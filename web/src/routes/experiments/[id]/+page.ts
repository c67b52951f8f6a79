import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import { missing } from '$lib/api/missing';
import { readForm } from '$lib/settings/schema';

export async function load({ fetch, params }) {
  const experiment = await api
    .get('/api/experiments/{id}', { fetch, path: { id: params.id } })
    .catch((problem) => missing(problem, `experiment ${params.id}`));
  live.take(...experiment.runs);
  const schema = await api.get('/api/schemas/{name}', {
    fetch,
    path: { name: `${experiment.algorithm}:${experiment.env_id}` },
  });
  return { experiment, form: readForm(schema) };
}
