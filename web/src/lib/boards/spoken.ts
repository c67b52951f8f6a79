/** A board for people who cannot see it. */
import type { Spot } from '$lib/api/types';

/** Where a spot is and whose pieces lie there, seen from a seat. */
export function spoken(spot: Pick<Spot, 'label' | 'pieces'>, seat: number): string {
  // To pass is a button beside the board, and no place on it.
  if (spot.label === 'pass') return spot.label;
  const whose = spot.pieces.map((owner) => (owner === seat ? 'yours' : 'theirs'));
  if (whose.length === 0) return `${spot.label}, empty`;
  if (whose.length === 1) return `${spot.label}, ${whose[0]}`;
  return `${spot.label}, from below: ${whose.join(', ')}`;
}
