const COLORS = 10;

/** A run's series colour as a CSS variable: always the same for the same id. */
export function runColor(id: string): string {
  let hash = 2166136261;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 16777619);
  return `var(--series-${((hash >>> 0) % COLORS) + 1})`;
}
