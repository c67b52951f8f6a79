import { type Asked, curlOf, curlsOf } from '$lib/api/curl';

/** What can be pressed. */
export const DEEDS = { start: 'Start', save: 'Save only', dry: 'Dry run' } as const;
export type Deed = keyof typeof DEEDS;

/** What the requests of the buttons are made of. */
export interface Wanted {
  /** Where the lab is. */
  origin: string;
  /** Where templates are made, or one is cloned. */
  route: string;
  /** What is sent there. */
  body: object;
  /** The whole template, which a clone does not send. */
  whole: object;
  seeds: { seed_base: number; count: number };
}

/** The requests that a button makes, for a shell. */
export function curlOfDeed(deed: Deed, { origin, route, body, whole, seeds }: Wanted): string {
  const post = (path: string, body: object): Asked => ({
    method: 'POST',
    url: origin + path,
    body,
  });
  if (deed === 'dry') return curlOf(post('/api/experiments', dryBody(whole, seeds)));
  const save = post(route, body);
  if (deed === 'save') return curlOf(save);
  return curlsOf(save, 'EXPERIMENT', (id) => post('/api/runs', runsBody(id, seeds)));
}

/** What is asked when nothing is to be made. */
export function dryBody<T extends object>(whole: T, seeds: Wanted['seeds']) {
  return { ...whole, dry_run: true, seeds };
}

/** What starts the runs of a template. */
export function runsBody(experiment_id: string, seeds: Wanted['seeds']) {
  return { experiment_id, seeds };
}

/** A configuration with changes laid over it, as the lab lays those of a clone. */
export function over<T>(config: T, changes: unknown): T {
  if (!isObject(config) || !isObject(changes)) return changes as T;
  const merged: Record<string, unknown> = { ...config };
  for (const [name, value] of Object.entries(changes)) merged[name] = over(config[name], value);
  return merged as T;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
