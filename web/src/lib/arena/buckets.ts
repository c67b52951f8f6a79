/** A match seed by seed: what each bucket says of A. */
import type { Bucket } from '$lib/api/types';

export type Verdict = 'won' | 'even' | 'lost';

/** How the games of a seed went for A, taken together. */
export function verdict(bucket: Bucket): Verdict {
  const points = bucket.scores.reduce((sum, score) => sum + score, 0);
  const half = bucket.scores.length / 2;
  return points > half ? 'won' : points < half ? 'lost' : 'even';
}

export function tally(buckets: readonly Bucket[]): Record<Verdict, number> {
  const count = { won: 0, even: 0, lost: 0 };
  for (const bucket of buckets) count[verdict(bucket)] += 1;
  return count;
}

/** `won, lost` for the games of a seed, in the order of play. */
export function told({ scores }: Bucket): string {
  return scores.map((score) => (score > 0.5 ? 'won' : score < 0.5 ? 'lost' : 'drawn')).join(', ');
}
