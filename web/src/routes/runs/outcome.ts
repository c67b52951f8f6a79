/** What a run has to show for itself, in the words of a table. */
import type { Run } from '$lib/api/types';
import { count, signed } from '$lib/format';

/**
 * How far: steps of a training, episodes or games of an evaluation. A trainer of somebody else may
 * not have told how many it will make.
 */
export function extent(run: Run): [done: string, of: string] {
  if (run.kind !== 'eval') {
    return [count(run.step), run.total_timesteps > 0 ? count(run.total_timesteps) : ''];
  }
  const what = isMatch(run) ? 'games' : 'episodes';
  return [count(run.episodes), `${count(run.total_episodes)} ${what}`];
}

/** The best evaluation of a policy, or the share of the points in a match. */
export function best(run: Run): string {
  const result = run.match_result;
  return result ? share(result.score) : signed(run.best_eval?.mean);
}

/** `0.59` as `59.0%`. */
export function share(score: number): string {
  return `${(100 * score).toFixed(1)}%`;
}

/** A match has no policy that it measures. */
export function isMatch(run: Run): boolean {
  return run.kind === 'eval' && run.of_run === null;
}

/** An Elo difference; without a bound when every game went one way. */
export function elo(value: number | null | undefined): string {
  return value == null ? 'no bound' : signed(value, 0);
}

/** What an Elo difference lies between; where every game went one way an end is missing. */
export function eloBetween([least, most]: readonly (number | null)[]): string {
  if (least == null) return most == null ? elo(null) : `at most ${elo(most)}`;
  return most == null ? `at least ${elo(least)}` : `${elo(least)} to ${elo(most)}`;
}
