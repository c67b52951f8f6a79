/** What an address names and the lab does not have: the 404 page, which knows the way back. */
import { error } from '@sveltejs/kit';

import { ApiProblem, curlFor } from './client';

/** Ends a load that failed: with the 404 page where nothing is there, else with what went wrong. */
export function missing(problem: unknown, what: string): never {
  if (problem instanceof ApiProblem && problem.status === 404) {
    error(404, {
      message: `There is no ${what}`,
      detail: 'It may have been deleted, or belong to another data folder.',
      curl: curlFor(problem.problem),
    });
  }
  throw problem;
}
