/** A series colour for each player of a table: its own where it is free, or else the next one. */
const COLORS = 10;

export function playerColors(keys: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<number>();
  const colors = new Map<string, string>();
  for (const key of keys) {
    if (colors.has(key)) continue;
    // After ten players colours come again; names tell them apart.
    if (taken.size === COLORS) taken.clear();
    let slot = hash(key) % COLORS;
    while (taken.has(slot)) slot = (slot + 1) % COLORS;
    taken.add(slot);
    colors.set(key, `var(--series-${slot + 1})`);
  }
  return colors;
}

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}
