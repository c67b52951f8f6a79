/** How many series colours there are. */
export const COLORS = 10;

/** A run's series colour as a CSS variable: always the same for the same id. */
export function runColor(id: string): string {
  return `var(--series-${colorNumber(id) + 1})`;
}

/** Which of the colours, from 0, is that of a name. */
export function colorNumber(name: string): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (hash >>> 0) % COLORS;
}
