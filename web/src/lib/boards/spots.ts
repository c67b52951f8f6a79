/** Moving between the spots of a board by where they lie, so that any layout works. */
import type { Spot } from '$lib/api/types';

export type Direction = 'left' | 'right' | 'up' | 'down';

const AXIS = { left: [-1, 0], right: [1, 0], up: [0, 1], down: [0, -1] } as const;

/**
 * The nearest spot in a direction, or the same when there is none.
 *
 * A spot counts when it lies more ahead than aside; sideways distance costs double, so that rows
 * and columns are kept where the board has them. World y points up.
 */
export function neighbour(spots: readonly Spot[], from: number, direction: Direction): number {
  const here = spots[from];
  if (!here) return from;
  const [dx, dy] = AXIS[direction];
  const [x, y] = centre(here);
  let best = from;
  let bestCost = Infinity;
  spots.forEach((spot, index) => {
    if (index === from) return;
    const [sx, sy] = centre(spot);
    const ahead = (sx - x) * dx + (sy - y) * dy;
    const aside = Math.abs((sx - x) * dy) + Math.abs((sy - y) * dx);
    if (ahead <= 1e-9 || aside > ahead) return;
    const cost = ahead + 2 * aside;
    if (cost < bestCost) {
      best = index;
      bestCost = cost;
    }
  });
  return best;
}

/** Whether a spot is a column that pieces fall into: much taller than wide. */
export function isColumn(spot: Pick<Spot, 'x0' | 'x1' | 'y0' | 'y1'>): boolean {
  return spot.y1 - spot.y0 > 2 * (spot.x1 - spot.x0);
}

function centre(spot: Spot): [number, number] {
  return [(spot.x0 + spot.x1) / 2, (spot.y0 + spot.y1) / 2];
}
