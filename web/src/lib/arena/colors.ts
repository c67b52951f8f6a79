/**
 * How each player of a table is drawn. What a run has learnt has the colour of its run, as it has on
 * every page; several checkpoints of one differ by their strokes. Others have a colour of their own
 * where it is free, or else the next one.
 */
import { type Look, looksOfColors } from '$lib/line-looks';
import { COLORS, colorNumber, runColor } from '$lib/run-color';

export function playerLooks(keys: readonly string[]): ReadonlyMap<string, Look> {
  const players = [...new Set(keys)];
  const colors = new Map<string, string>();
  for (const key of players) {
    const run = runOf(key);
    if (run) colors.set(key, runColor(run));
  }
  const taken = new Set(colors.values());
  for (const key of players) {
    if (colors.has(key)) continue;
    let slot = colorNumber(key);
    // After ten players colours come again, with other strokes.
    for (let tries = 0; tries < COLORS && taken.has(color(slot)); tries += 1)
      slot = (slot + 1) % COLORS;
    taken.add(color(slot));
    colors.set(key, color(slot));
  }
  const looks = looksOfColors(players.map((key) => colors.get(key) as string));
  return new Map(players.map((key, index) => [key, looks[index] as Look]));
}

const color = (slot: number) => `var(--series-${slot + 1})`;

/** The run that a player was learnt in, by its key: `run:r-7f3k2m@step_000200000`. */
function runOf(key: string): string | null {
  return /^(?:run:)?(r-[0-9a-z]+)(?:@|:|$)/.exec(key)?.[1] ?? null;
}
