/** A match seed by seed: what each bucket says of A. */
import type { Bucket } from '$lib/api/types';

export type Verdict = 'won' | 'even' | 'lost';

/** How the games of a seed went for A, taken together: a win scores 1, a loss -1, a draw 0. */
export function verdict(bucket: Bucket): Verdict {
  const sum = bucket.scores.reduce((all, score) => all + score, 0);
  return sum > 0 ? 'won' : sum < 0 ? 'lost' : 'even';
}

export function tally(buckets: readonly Bucket[]): Record<Verdict, number> {
  const count = { won: 0, even: 0, lost: 0 };
  for (const bucket of buckets) count[verdict(bucket)] += 1;
  return count;
}

/** `won, lost` for the games of a seed, in the order of play. */
export function told({ scores }: Bucket): string {
  return scores.map((score) => (score > 0 ? 'won' : score < 0 ? 'lost' : 'drawn')).join(', ');
}
