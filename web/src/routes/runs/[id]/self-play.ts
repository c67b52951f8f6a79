/** What is said of a game of self-play. */
import type { Episode, XrayStep } from '$lib/api/types';

/** Who tells what is shown before a move: a search, chance, or a network by itself. */
export type Teller = 'search' | 'chance' | 'network';

/** Where the searches are recalled, the moves that have none are those of the opening. */
export function tellerOf(thought: XrayStep, recalled: boolean): Teller {
  if (thought.searched) return 'search';
  return recalled ? 'chance' : 'network';
}

/** How a game ended; its reward is that of who moved first. */
export function endOf({ reward, truncated }: Pick<Episode, 'reward' | 'truncated'>): string {
  const score = reward ?? 0;
  if (score === 0) return 'Drawn.';
  const [winner, loser] = score > 0 ? ['first', 'second'] : ['second', 'first'];
  return truncated
    ? `The ${winner} player won: the ${loser} gave up, or a search had proven the end.`
    : `The ${winner} player won.`;
}
