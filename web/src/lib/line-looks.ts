/** How lines are told from each other: by their colours, and by strokes where they share one. */
export interface Look {
  /** A CSS variable. */
  color: string;
  /** Lengths of strokes and gaps; none for a line without gaps. */
  dash: number[];
}

/** Lines of one colour are told apart by these, in this order. */
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2, 1, 2], [14, 4]];

/** Colours in the order in which they are seen, each with strokes that it has not had yet. */
export function looksOfColors(colors: readonly string[]): Look[] {
  const drawn = new Map<string, number>();
  return colors.map((color) => {
    const n = drawn.get(color) ?? 0;
    drawn.set(color, n + 1);
    return { color, dash: DASHES[n % DASHES.length] ?? [] };
  });
}
