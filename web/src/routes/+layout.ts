import { ApiProblem, api } from '$lib/api/client';
import { me } from '$lib/state/me.svelte';
import { urls } from '$lib/urls';

export const ssr = false;
export const prerender = false;

/** The lab itself. Pages can be seen without it, so that a problem is shown inside the frame. */
export async function load({ fetch, url, untrack }) {
  // Not tracked: moving between pages must not ask again.
  if (untrack(() => url.pathname) === urls.login()) return { lab: null };
  try {
    const [lab, who] = await Promise.all([
      api.get('/api/lab', { fetch }),
      api.get('/api/me', { fetch }),
    ]);
    me.current = who;
    return { lab };
  } catch (error) {
    if (error instanceof ApiProblem) return { lab: null };
    throw error;
  }
}
