/** Games won, drawn and lost, and what they come to. */

/** What one player took from another, or in all. */
export interface Score {
  wins: number;
  draws: number;
  losses: number;
}

export function games({ wins, draws, losses }: Score): number {
  return wins + draws + losses;
}

/** The share of the points: a win is 1, a draw a half. */
export function points(score: Score): number {
  return (score.wins + score.draws / 2) / games(score);
}
