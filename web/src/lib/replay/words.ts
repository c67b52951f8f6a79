/** What there is to say about an episode and its steps. */
import type { Environment, Episode, EpisodeMoment } from '$lib/api/types';
import { NONE, measure, signed } from '$lib/format';

type Known = Environment | null | undefined;

type End = Pick<Episode, 'terminated' | 'truncated'>;

/** What ended it, as its environment says it. */
export function outcome(end: End, env: Known): string {
  return (end.terminated && env?.controls?.ending) || ending(end, env);
}

/** What ended it, in a word or two: in a list the sentence of the environment is ever the same. */
export function ending({ terminated, truncated }: End, env: Known): string {
  if (terminated) return 'ended';
  if (env?.is_game && truncated) return 'decided early';
  return truncated === false ? 'broken off' : 'time limit';
}

/** An action by name, or as numbers. */
export function actionText(action: unknown, env: Known): string {
  if (action === undefined || action === null) return NONE;
  if (typeof action === 'number') return env?.action_names[action] ?? String(action);
  if (Array.isArray(action)) return action.map((number) => figure(number)).join(' ');
  return typeof action === 'string' ? action : JSON.stringify(action);
}

export interface Reading {
  name: string;
  value: string;
}

/** What is seen, number by number, under its names. */
export function readings(seen: EpisodeMoment['observation'], env: Known): Reading[] {
  const told: unknown = seen;
  if (told === undefined || told === null) return [];
  if (Array.isArray(told)) {
    return told.map((value, index) => ({
      name: env?.observation_names[index] ?? String(index),
      value: figure(value),
    }));
  }
  if (typeof told === 'object') {
    return Object.entries(told).map(([name, value]) => ({ name, value: figure(value) }));
  }
  return [{ name: 'value', value: figure(told) }];
}

/** A number to three places, whole ones without; anything else as it is. */
function figure(value: unknown): string {
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return String(value);
    return Math.abs(value) < 1000 ? signed(value, 3) : measure(value);
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A step as a screen reader says it. */
export function spoken(moment: EpisodeMoment | undefined, env: Known): string {
  if (!moment) return '';
  const parts = [`Step ${moment.step}`];
  if (moment.action !== undefined) parts.push(actionText(moment.action, env));
  if (moment.reward !== null) parts.push(`reward ${signed(moment.reward, 2)}`);
  if (moment.terminated || moment.truncated) parts.push(outcome(moment, env));
  return parts.join(', ');
}
