/** Every address of the app. */
export const urls = {
  home: '/',
  /** The live runs one after the other, for a wall. */
  kiosk: '/?kiosk=1',
  lab: (at: { env?: string | null; run?: string | null; test?: string | null } = {}) =>
    '/lab' + query(at),
  runs: (at: { q?: string } = {}) => '/runs' + query(at),
  compare: (at: { runs?: string; group?: string } = {}) =>
    '/compare' + query(at).replaceAll('%2C', ','),
  run: (id: string) => `/runs/${encodeURIComponent(id)}`,
  play: '/play',
  game: (id: string) => `/play/${encodeURIComponent(id)}`,
  /** An environment that a person plays. */
  session: (id: string) => `/play/environments/${encodeURIComponent(id)}`,
  login: (at: { next?: string; error?: string } = {}) => '/login' + query(at),
  evaluations: '/evaluations',
  replay: '/replay',
  cluster: '/cluster',
  audit: (at: Record<string, string | null | undefined> = {}) => '/audit' + query(at),
  settings: '/settings',
  analytics: (at: { run?: string | null; iteration?: string | number | null } = {}) =>
    '/analytics' + query(at),
  stream: '/api/stream',
  /** The live pictures of a run, as a WebSocket. */
  frames: (id: string, fps: number) =>
    `/api/runs/${encodeURIComponent(id)}/frames` + query({ format: 'scene', fps }),
  playLive: (id: string) => `/api/play/environments/${encodeURIComponent(id)}/live`,
};

/** A query string of the values that are there. */
export function query(
  values: Record<string, string | number | boolean | null | undefined> = {},
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text && `?${text}`;
}
