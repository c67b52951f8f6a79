/**
 * How far the lines of a log have moved up since it was read last: so many of the oldest are gone,
 * and those after them are the first now. All of them, when none is left.
 */
export function movedBy(old: readonly string[], now: readonly string[]): number {
  for (let moved = 0; moved < old.length; moved += 1) {
    const left = old.length - moved;
    if (left > now.length) continue;
    let same = 0;
    while (same < left && old[moved + same] === now[same]) same += 1;
    if (same === left) return moved;
  }
  return old.length;
}
