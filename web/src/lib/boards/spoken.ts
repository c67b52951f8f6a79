/** A board for people who cannot see it. */
import type { Spot } from '$lib/api/types';

/** Who looks at a board: a seat, or somebody who plays neither side. */
type Viewer = number | 'nobody';

/** Where a spot is and whose pieces lie there, as who looks at it would say. */
export function spoken(spot: Pick<Spot, 'label' | 'pieces'>, viewer: Viewer): string {
  // To pass is a button beside the board, and no place on it.
  if (spot.label === 'pass') return spot.label;
  const whose = spot.pieces.map((owner) => ownerOf(owner, viewer));
  if (whose.length === 0) return `${spot.label}, empty`;
  if (whose.length === 1) return `${spot.label}, ${whose[0]}`;
  return `${spot.label}, from below: ${whose.join(', ')}`;
}

function ownerOf(seat: number, viewer: Viewer): string {
  if (viewer === 'nobody') return seat === 0 ? "first player's" : "second player's";
  return seat === viewer ? 'yours' : 'theirs';
}

/** A whole board that is only looked at: where pieces lie, and whose. */
export function spokenBoard(
  pieces: readonly (readonly number[])[] | null | undefined,
  names: readonly string[],
): string {
  if (!pieces) return '';
  const taken = pieces.flatMap((owners, action) =>
    owners.length > 0
      ? [spoken({ label: names[action] ?? String(action), pieces: [...owners] }, 'nobody')]
      : [],
  );
  if (taken.length === 0) return 'The board is empty.';
  return `On the board: ${taken.join('; ')}. All else is empty.`;
}
