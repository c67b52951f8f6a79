/** How much somebody thinks of one action of a board. */
export interface BoardMark {
  /** Its part of what was looked at, 0 to 1. */
  share: number;
  /** How often it was looked at; null where nobody looked. */
  visits: number | null;
  /** What was thought of it before anybody looked, 0 to 1. */
  prior: number;
  isBest: boolean;
  /** The same for people who cannot see it. */
  spoken: string;
}
