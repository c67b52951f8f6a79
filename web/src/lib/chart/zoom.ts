/** Charts by keys: what a key shows of the x axis. */
import type { Bindings } from '$lib/keys';

type Range = readonly [number, number];

/** What the keys do, for those who hear the page. */
export const ZOOM_KEYS = 'Plus and minus zoom, left and right move, 0 shows everything.';
export const VIEW_KEY = ' V fills the screen.';

/** Nothing closer than this part of the whole is of any use. */
const CLOSEST = 1e-4;
const STEP = 0.25;

/**
 * The range after a key, `all` where it is everything there is, and null for a key that does nothing.
 * Zooming keeps the middle where it is; moving stops at the ends.
 */
export function zoomBy(key: string, range: Range, full: Range): [number, number] | 'all' | null {
  const [low, high] = range;
  const width = high - low;
  switch (key) {
    case '+':
    case '=':
      if (width / 2 < CLOSEST * (full[1] - full[0])) return null;
      return [low + width / 4, high - width / 4];
    case '-':
    case '_':
      return within([low - width / 2, high + width / 2], full);
    case 'ArrowLeft':
      return moved(range, full, -STEP * width);
    case 'ArrowRight':
      return moved(range, full, STEP * width);
    case '0':
    case 'Escape':
      return 'all';
    default:
      return null;
  }
}

/** Keys of a page of charts, wherever the focus is; `press` is told the key that a chart has for it. */
export function pageKeys(press: (key: string) => void): Bindings {
  return {
    't z': () => press('-'),
    't ArrowLeft': () => press('ArrowLeft'),
    't ArrowRight': () => press('ArrowRight'),
  };
}

/** The part of a range that there is. */
function within([low, high]: Range, full: Range): [number, number] | 'all' {
  const part: [number, number] = [Math.max(low, full[0]), Math.min(high, full[1])];
  return part[0] <= full[0] && part[1] >= full[1] ? 'all' : part;
}

function moved([low, high]: Range, full: Range, by: number): [number, number] | null {
  const room = by < 0 ? Math.min(0, full[0] - low) : Math.max(0, full[1] - high);
  const way = by < 0 ? Math.max(by, room) : Math.min(by, room);
  return way === 0 ? null : [low + way, high + way];
}
