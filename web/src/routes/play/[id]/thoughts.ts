/** What a network makes of a position, as the board and the table show it. */
import type { Opponent, Thoughts } from '$lib/api/types';
import type { BoardMark } from '$lib/boards/marks';
import { count, percent } from '$lib/format';

export type Thought = Thoughts['actions'][number];

/** With fewer a network says hardly more than at first sight. */
const LEAST_SIMULATIONS = 200;

/**
 * How many simulations are worth asking for: those of the opponent, and enough where it makes few. None
 * are said where the lab knows best: of a built-in opponent, or a network that cannot search.
 */
export function worthwhile({ simulations }: Pick<Opponent, 'simulations'>): number | undefined {
  return simulations === null ? undefined : Math.max(simulations, LEAST_SIMULATIONS);
}

/** A mark for every action that may be played. */
export function marksOf({ actions, chosen }: Thoughts): Map<number, BoardMark> {
  const visits = actions.reduce((sum, action) => sum + action.visits, 0);
  return new Map(
    actions.map(({ action, prior, visits: own }) => {
      const share = visits > 0 ? own / visits : prior;
      const times = own === 1 ? '1 visit' : `${count(own)} visits`;
      // In the order in which it is on the square, as those who see and hear both expect.
      const spoken = `${visits > 0 ? `${percent(share)}, ${times}, ` : ''}prior ${percent(prior)}`;
      const isBest = action === chosen?.action;
      return [action, { share, visits: visits > 0 ? own : null, prior, isBest, spoken }];
    }),
  );
}

/** The actions as a table has them: what was looked at most first. */
export function rowsOf({ actions }: Thoughts): Thought[] {
  return actions.toSorted((a, b) => b.visits - a.visits || b.prior - a.prior);
}

/** A move as the board numbers it: a column is its number. */
export function brief(name: string): string {
  return name.replace(/^column /, '');
}
