/** How good a game was for you, move by move, and where it turned. */

export interface Swing {
  /** The move, from 1. */
  move: number;
  /** How much it changed for you. */
  change: number;
}

/** Anything smaller is within what a rule of thumb gets wrong. */
const LEAST_SWING = 0.2;

/** The move after which most was different; none when nothing changed much or little is known. */
export function biggestSwing(values: readonly (number | null)[]): Swing | null {
  let biggest: Swing | null = null;
  for (let move = 1; move < values.length; move += 1) {
    const [before, after] = [values[move - 1], values[move]];
    if (before == null || after == null) continue;
    const change = after - before;
    if (Math.abs(change) >= LEAST_SWING && Math.abs(change) > Math.abs(biggest?.change ?? 0)) {
      biggest = { move, change };
    }
  }
  return biggest;
}

/** The ply that an address asks for; none for the game as it stands. */
export function plyOf(text: string | null, n_moves: number): number | null {
  if (text === null || !/^\d{1,4}$/.test(text)) return null;
  const ply = Number(text);
  return ply < n_moves ? ply : null;
}
