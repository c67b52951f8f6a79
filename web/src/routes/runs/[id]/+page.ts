import { error, redirect } from '@sveltejs/kit';
import { ApiProblem, api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import { askCurves } from '$lib/state/run-view.svelte';
import { urls } from '$lib/urls';

/** A page that has its curves at once draws them at once; it waits for them, but not for long. */
const PATIENCE_MS = 150;

const after = (ms: number) => new Promise<null>((done) => setTimeout(() => done(null), ms));

export async function load({ fetch, params }) {
  const asked = api.get('/api/runs/{id}', { fetch, path: { id: params.id } });
  // What is wrong with the curves, or keeps them, the page finds out by itself.
  const curves = askCurves(params.id, { fetch }).catch(() => null);
  try {
    const [run, early, { environments }] = await Promise.all([
      asked,
      Promise.race([curves, after(PATIENCE_MS)]),
      api.get('/api/environments', { fetch, query: { games: true } }),
    ]);
    // What a person plays has a page of its own.
    if (run.kind === 'human') {
      const isEnvironment = environments.some((env) => env.id === run.env_id && !env.is_game);
      redirect(307, isEnvironment ? urls.session(run.id) : urls.game(run.id));
    }
    live.take(run);
    return { run, early, env: environments.find((env) => env.id === run.env_id) };
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
