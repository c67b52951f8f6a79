/**
 * How well a training by self-play does. Whoever plays against itself wins as much as it loses, so
 * its reward says nothing: matches, a solver and the losses do.
 */
import type { Run, Series } from './api/types';
import { NONE, count, measure, percent, short } from './format';

export const RATING = 'arena/elo';
export const AGAINST_BEST = 'arena/score_best';
export const VALUE_ERROR = 'solver/value_error';
export const POLICY_LOSS = 'train/policy_loss';
export const VALUE_LOSS = 'train/value_loss';
export const GAMES = 'self_play/games_per_sec';

/** What is told of such a run in few words. */
export const SELF_PLAY_KEYS = [
  RATING,
  AGAINST_BEST,
  VALUE_ERROR,
  POLICY_LOSS,
  VALUE_LOSS,
  GAMES,
] as const;

type Key = (typeof SELF_PLAY_KEYS)[number];

const FIGURES: Record<Key, { label: string; format: (value: number) => string }> = {
  [RATING]: { label: 'Rating', format: count },
  [AGAINST_BEST]: { label: 'Against the best', format: percent },
  [VALUE_ERROR]: { label: 'Value errors', format: percent },
  [POLICY_LOSS]: { label: 'Policy loss', format: measure },
  [VALUE_LOSS]: { label: 'Value loss', format: measure },
  [GAMES]: { label: 'Games/s', format: short },
};

/** What tells most of how strong it is; the last of these comes with its first update. */
const STRENGTH: Key[] = [RATING, AGAINST_BEST, VALUE_ERROR, POLICY_LOSS];

type Curves = ReadonlyMap<string, Series> | undefined;

export function isSelfPlay(run: Pick<Run, 'algorithm'> | undefined): boolean {
  return run?.algorithm === 'alphazero';
}

/** The newest value that is one, and the step at which it was measured. */
export function newest(curves: Curves, key: string): { value: number; step: number } | null {
  const line = curves?.get(key);
  const at = line?.value.findLastIndex((value) => value !== null) ?? -1;
  return line && at >= 0 ? { value: line.value[at] ?? 0, step: line.step[at] ?? 0 } : null;
}

/** A figure by its key, as people read it. */
export function figure(curves: Curves, key: Key): { label: string; value: string } {
  const { label, format } = FIGURES[key];
  const found = newest(curves, key);
  return { label, value: found ? format(found.value) : NONE };
}

/** The one figure that says most of what is known so far. */
export function strength(curves: Curves): { key: Key; label: string; value: string } {
  const key = STRENGTH.find((key) => newest(curves, key)) ?? POLICY_LOSS;
  return { key, ...figure(curves, key) };
}
