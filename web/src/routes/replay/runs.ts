/** The runs that have episodes to be seen, newest first, page after page. */
import { api } from '$lib/api/client';

const PAGE = 60;
const KINDS = 'train,eval,external,human';

export function runsPage(q: string, cursor: string | null, fetch?: typeof globalThis.fetch) {
  const query = {
    kind: KINDS,
    limit: PAGE,
    ...(q ? { q } : {}),
    ...(cursor ? { cursor } : {}),
  };
  return api.get('/api/runs', { ...(fetch ? { fetch } : {}), query });
}
