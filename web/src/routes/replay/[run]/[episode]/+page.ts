import { error } from '@sveltejs/kit';
import { ApiProblem, api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';

export async function load({ fetch, params }) {
  const path = { id: params.run };
  try {
    const [run, { environments }, { replay, problem }] = await Promise.all([
      api.get('/api/runs/{id}', { fetch, path }),
      api.get('/api/environments', { fetch, query: { games: true } }),
      showing(fetch, params.run, Number(params.episode)),
    ]);
    live.take(run);
    const env = environments.find((env) => env.id === run.env_id) ?? null;
    return { run, env, number: Number(params.episode), replay, problem };
  } catch (problem) {
    if (problem instanceof ApiProblem && (problem.status === 404 || problem.status === 400)) {
      const isRun = problem.problem.code === 'no_such_run';
      error(404, {
        message: isRun
          ? `There is no run ${params.run}`
          : `Run ${params.run} has no episode ${params.episode}`,
        detail: 'It may have been deleted, or belong to another data folder.',
      });
    }
    throw problem;
  }
}

/** The episode in figures; one that is damaged is a page that says so, with all others beside it. */
async function showing(fetch: typeof globalThis.fetch, id: string, n: number) {
  try {
    const options = { fetch, path: { id, n }, query: { from: 0, to: 1 } };
    return { replay: await api.get('/api/runs/{id}/episodes/{n}', options), problem: null };
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 409) {
      return { replay: null, problem: problem.problem };
    }
    throw problem;
  }
}
