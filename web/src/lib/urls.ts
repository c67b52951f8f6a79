/** Every address of the app. */
export const urls = {
  home: '/',
  /** The live runs one after the other, for a wall. */
  kiosk: '/?kiosk=1',
  /** The workbench: what is shown, and what would be trained next. */
  lab: (
    at: {
      env?: string | null;
      run?: string | null;
      test?: string | null;
      algo?: string | null;
      preset?: string | null;
      set?: string | null;
      /** `policy` for the newest checkpoint instead of the training itself. */
      feed?: string | null;
    } = {},
  ) => '/lab' + query(at),
  runs: (at: { q?: string; trash?: string; kind?: string } = {}) => '/runs' + query(at),
  compare: (at: { runs?: string; group?: string } = {}) =>
    '/compare' + query(at).replaceAll('%2C', ','),
  run: (id: string) => `/runs/${encodeURIComponent(id)}`,
  /** Every episode of every run, or of one. */
  replays: (at: { run?: string | null; order?: string | null; q?: string | null } = {}) =>
    '/replay' + query(at),
  /** An episode in the theatre, at a step. */
  episode: (
    run: string,
    episode: number,
    at: Record<string, string | number | null | undefined> = {},
  ) => `/replay/${encodeURIComponent(run)}/${episode}` + query(at),
  /** Something to play: a game with an opponent and a side, or an environment. */
  play: (
    at: { game?: string | null; opponent?: string | null; side?: string | null } & Record<
      string,
      string | null | undefined
    > = {},
  ) => '/play' + query(at).replaceAll('%3A', ':'),
  /** A game, as it stands or as it stood after some moves. */
  game: (id: string, at: { ply?: number | null } = {}) =>
    `/play/${encodeURIComponent(id)}` + query(at),
  /** An environment that a person plays. */
  session: (id: string) => `/play/environments/${encodeURIComponent(id)}`,
  experiments: (at: { q?: string | null; archived?: boolean | undefined } = {}) =>
    '/experiments' + query({ q: at.q, archived: at.archived || undefined }),
  /** A form for a new template: from nothing, or from another; settings by their full path. */
  newExperiment: (at: Record<string, string | null | undefined> = {}) =>
    '/experiments/new' + query(at),
  experiment: (id: string) => `/experiments/${encodeURIComponent(id)}`,
  /** What a run says it is of: a template, or just a word that its runs share. */
  experimentOf: (word: string): string =>
    /^e-[0-9a-z]{6}$/.test(word) ? urls.experiment(word) : urls.runs({ q: word }),
  leaderboard: (
    at: { game?: string | null; env?: string | null; anchor?: string | null } & Record<
      string,
      string | null | undefined
    > = {},
  ) => '/leaderboard' + query(at),
  /** Policies measured and players compared; with `new`, the form that starts one. */
  evaluations: (at: Record<string, string | null | undefined> = {}) => '/evaluations' + query(at),
  evaluation: (id: string) => `/evaluations/${encodeURIComponent(id)}`,
  tournaments: (at: Record<string, string | null | undefined> = {}) => '/tournaments' + query(at),
  tournament: (id: string) => `/tournaments/${encodeURIComponent(id)}`,
  models: (at: Record<string, string | boolean | null | undefined> = {}) =>
    '/models' + query({ ...at, archived: at.archived || undefined }),
  model: (name: string) => `/models/${encodeURIComponent(name)}`,
  login: (at: { next?: string; error?: string } = {}) => '/login' + query(at),
  replay: '/replay',
  cluster: '/cluster',
  audit: (at: Record<string, string | null | undefined> = {}) => '/audit' + query(at),
  settings: '/settings',
  analytics: (at: { run?: string | null; iteration?: string | number | null } = {}) =>
    '/analytics' + query(at),
  stream: '/api/stream',
  artifact: (run: string, id: string) =>
    `/api/runs/${encodeURIComponent(run)}/artifacts/${encodeURIComponent(id)}`,
  /** Steps `from` to before `to` of an episode as an MP4 file. */
  film: (run: string, episode: number, from: number, to: number) =>
    `/api/runs/${encodeURIComponent(run)}/episodes/${episode}/film.mp4` + query({ from, to }),
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
