import { api } from '$lib/api/client';
import { readForm } from '$lib/settings/schema';

/** The form follows from the environment and the algorithm, or from the experiment that is cloned. */
export async function load({ fetch, url }) {
  const from = url.searchParams.get('from');
  const [{ environments }, original] = await Promise.all([
    api.get('/api/environments', { fetch, query: { games: true } }),
    from ? api.get('/api/experiments/{id}', { fetch, path: { id: from } }) : null,
  ]);
  const wanted = original?.env_id ?? url.searchParams.get('env') ?? 'CartPole-v1';
  const learnable = environments.filter((env) => env.algorithms.length > 0);
  const env = learnable.find(({ id }) => id === wanted) ?? learnable[0];
  if (!env) throw new Error('the lab has no environment that can be learnt');
  const said = original?.algorithm ?? url.searchParams.get('algo') ?? 'ppo';
  const algorithm = env.algorithms.includes(said) ? said : (env.algorithms[0] ?? 'ppo');
  const schema = await api.get('/api/schemas/{name}', {
    fetch,
    path: { name: `${algorithm}:${env.id}` },
  });
  return { environments: learnable, env, algorithm, original, form: readForm(schema) };
}
