import { ApiProblem, api } from '$lib/api/client';
import { urls } from '$lib/urls';

export const ssr = false;
export const prerender = false;

/** The lab itself. Pages can be seen without it, so that a problem is shown inside the frame. */
export async function load({ fetch, url, untrack }) {
  // Not tracked: moving between pages must not ask again.
  if (untrack(() => url.pathname) === urls.login()) return { lab: null };
  try {
    return { lab: await api.get('/api/lab', { fetch }) };
  } catch (error) {
    if (error instanceof ApiProblem) return { lab: null };
    throw error;
  }
}
