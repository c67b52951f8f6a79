import { error } from '@sveltejs/kit';
import { api, asProblem } from '$lib/api/client';
import { readForm } from '$lib/settings/schema';

/**
 * The form follows from the environment and the algorithm, from the experiment that is cloned, or
 * from the trainer that `lab.json` names.
 */
export async function load({ fetch, url }) {
  const from = url.searchParams.get('from');
  const named = url.searchParams.get('trainer');
  const [{ environments }, listed, original] = await Promise.all([
    api.get('/api/environments', { fetch, query: { games: true } }),
    // A file that is wrong is no reason to do without our own algorithms.
    api.get('/api/trainers', { fetch }).then(
      ({ trainers }) => ({ trainers, problem: null }),
      (problem) => ({ trainers: [], problem: asProblem(problem) }),
    ),
    from ? api.get('/api/experiments/{id}', { fetch, path: { id: from } }) : null,
  ]);
  const trainer = listed.trainers.find(({ id }) => id === named) ?? null;
  if (named !== null && !trainer)
    error(404, {
      message: `There is no trainer ${named}`,
      detail: listed.problem?.detail ?? 'They are named in lab.json of the data folder.',
    });
  const asked = url.searchParams.get('env') ?? trainer?.env_ids[0];
  const wanted = original?.env_id ?? asked ?? 'CartPole-v1';
  const learnable = environments.filter((env) => env.algorithms.length > 0);
  const env = learnable.find(({ id }) => id === wanted) ?? learnable[0];
  if (!env) throw new Error('the lab has no environment that can be learnt');
  const said = original?.algorithm ?? url.searchParams.get('algo') ?? 'ppo';
  const algorithm = env.algorithms.includes(said) ? said : (env.algorithms[0] ?? 'ppo');
  const schema = await api.get('/api/schemas/{name}', {
    fetch,
    path: { name: `${algorithm}:${env.id}` },
  });
  const form = readForm(schema);
  return { environments: learnable, env, algorithm, original, form, listed, trainer };
}
