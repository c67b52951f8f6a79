import { error, redirect } from '@sveltejs/kit';
import { ApiProblem, api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import { urls } from '$lib/urls';

export async function load({ fetch, params }) {
  try {
    const [run, { environments }] = await Promise.all([
      api.get('/api/runs/{id}', { fetch, path: { id: params.id } }),
      api.get('/api/environments', { fetch }),
    ]);
    // What a person plays has a page of its own.
    if (run.kind === 'human') {
      const isEnvironment = environments.some((env) => env.id === run.env_id);
      redirect(307, isEnvironment ? urls.session(run.id) : urls.game(run.id));
    }
    live.take(run);
    return { run, env: environments.find((env) => env.id === run.env_id) };
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 404) {
      error(404, {
        message: `There is no run ${params.id}`,
        detail: 'It may have been deleted, or belong to another data folder.',
      });
    }
    throw problem;
  }
}
