/** The levels of a game as people choose them: weakest first. */
import type { Game, Opponent } from '$lib/api/types';

/** One line to choose. */
export interface LevelOption {
  id: string;
  name: string;
  description: string;
}

export function levelsOf(game: Game | undefined): LevelOption[] {
  return (game?.opponents ?? []).toReversed().map((opponent) => ({
    id: opponent.id,
    name: opponent.level ?? opponent.name,
    description: `${opponent.name}. ${wordsOn(opponent)}`,
  }));
}

/** The level to begin with: the weakest that looks at what it does. */
export function firstLevel(levels: readonly LevelOption[]): LevelOption | undefined {
  return levels[1] ?? levels[0];
}

/** What an opponent is and how strong, in plain words. */
export function wordsOn(opponent: Opponent): string {
  return [opponent.description, opponent.strength].filter(Boolean).join(' ');
}
