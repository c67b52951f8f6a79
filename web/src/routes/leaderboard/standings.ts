/** What the log of matches comes to, for tables and lines. */
import type { LoggedMatch, RatingMoment } from '$lib/api/types';
import type { Score } from '$lib/arena/score';

function add(score: Score | undefined, match: Score, mirrored: boolean): Score {
  const [wins, losses] = mirrored ? [match.losses, match.wins] : [match.wins, match.losses];
  return {
    wins: (score?.wins ?? 0) + wins,
    draws: (score?.draws ?? 0) + match.draws,
    losses: (score?.losses ?? 0) + losses,
  };
}

/** Rows and columns are players in the given order; none where two have not met. */
export function crossTable(
  matches: readonly LoggedMatch[],
  keys: readonly string[],
): (Score | null)[][] {
  const met = new Map<string, Score>();
  for (const match of matches) {
    const { a, b } = match;
    met.set(`${a.key} ${b.key}`, add(met.get(`${a.key} ${b.key}`), match, false));
    met.set(`${b.key} ${a.key}`, add(met.get(`${b.key} ${a.key}`), match, true));
  }
  return keys.map((row) => keys.map((column) => met.get(`${row} ${column}`) ?? null));
}

export const RATINGS = [
  { of: 'rating', name: 'Rating', about: 'Bradley-Terry of all games up to then, in Elo' },
  { of: 'elo', name: 'Elo', about: 'Online Elo from 1200, K = 1: depends on the order' },
  { of: 'trueskill', name: 'TrueSkill', about: 'mu - 3 sigma: what it is at least' },
] as const;

export type RatingKind = (typeof RATINGS)[number]['of'];

export interface Line {
  key: string;
  name: string;
  /** The number of the match, from 1, and the rating after it. */
  points: (readonly [match: number, rating: number])[];
  /** The 95% interval of each point, where there is one. */
  band: (readonly [low: number, high: number])[];
}

/** One line for each player that is wanted, with a point after each match of theirs. */
export function historyLines(
  moments: readonly RatingMoment[],
  keys: readonly string[],
  of: RatingKind,
): Line[] {
  const lines = new Map<string, Line>();
  moments.forEach((moment, index) => {
    for (const side of [moment.a, moment.b]) {
      const line = lines.get(side.key) ?? { key: side.key, name: side.name, points: [], band: [] };
      line.points.push([index + 1, of === 'trueskill' ? side.trueskill.exposed : side[of]]);
      if (of === 'rating')
        line.band.push([side.ci95[0] ?? side.rating, side.ci95[1] ?? side.rating]);
      lines.set(side.key, line);
    }
  });
  return keys.flatMap((key) => lines.get(key) ?? []);
}

/** A scale that all of these fit on, with a little room at both ends. */
export function scaleOf(values: readonly number[]): [low: number, high: number] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const room = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** A tournament's pairings are numbered after a slash. */
export function isPairing({ id }: LoggedMatch): boolean {
  return id.includes('/');
}
