/** How good a game was for you, move by move, and where it turned. */
import type { Mistake } from '$lib/api/types';
import { signed } from '$lib/format';

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

/** Where a game turned: the move that gave most away, or after which most was different. */
export interface Turned {
  /** The position that it was played in: moves so far. */
  before: number;
  /** Whether you played it; null where nobody says whose fault it was. */
  isYours: boolean | null;
  /** How much it changed, for who moved; or for you, where nobody says whose fault it was. */
  change: number;
  played: string | null;
  best: string | null;
}

export function ofSwing(swing: Swing | null): Turned | null {
  if (!swing) return null;
  const nobody = { isYours: null, played: null, best: null };
  return { before: swing.move - 1, change: swing.change, ...nobody };
}

export function ofMistake(mistake: Mistake | null): Turned | null {
  if (!mistake) return null;
  const { ply, is_yours, played, best, value_before, value_after } = mistake;
  const change = value_after - value_before;
  return { before: ply, isYours: is_yours, change, played: played.name, best: best.name };
}

/** Where it turned, in words. */
export function toldOf({ before, isYours, change, played, best }: Turned): string {
  const [move, by] = [before + 1, signed(change, 2)];
  if (isYours === null) return `Biggest swing: move ${move}, ${by} for you`;
  const whose = isYours ? 'yours' : 'theirs';
  return `Biggest mistake: move ${move}, ${whose}: ${played} cost ${by.slice(1)}, best was ${best}`;
}

/** The ply that an address asks for; none for the game as it stands. */
export function plyOf(text: string | null, n_moves: number): number | null {
  if (text === null || !/^\d{1,4}$/.test(text)) return null;
  const ply = Number(text);
  return ply < n_moves ? ply : null;
}
