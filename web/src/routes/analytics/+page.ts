import { api } from '$lib/api/client';

/** The newest trainings; the one in the address may be older. */
export async function load({ fetch }) {
  const { runs } = await api.get('/api/analytics/runs', { fetch, query: { limit: 30 } });
  return { runs };
}
