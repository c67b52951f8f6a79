import type { HandleClientError } from '@sveltejs/kit';

import { ApiProblem, asProblem, curlFor } from '$lib/api/client';

/** A problem thrown while loading a page becomes the error page; anything else is our mistake. */
export const handleError: HandleClientError = ({ error, status, message }) => {
  if (error instanceof ApiProblem) {
    const problem = asProblem(error);
    return {
      message: problem.title,
      detail: problem.detail,
      requestId: problem.request_id,
      curl: curlFor(problem),
    };
  }
  if (status === 404) return { message: 'There is no such page' };
  console.error(error);
  return { message };
};
