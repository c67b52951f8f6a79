import { describe, expect, test } from 'vitest';
import type { Game, Opponent } from '$lib/api/types';

import { firstLevel, levelsOf, wordsOn } from './levels';

function opponent(id: string, level: string | null, strength: string | null = null): Opponent {
  const unknown = { simulations: null, run_id: null, step: null, rating: null };
  return { id, name: `Name of ${id}`, description: `What ${id} is.`, level, strength, ...unknown };
}

const game: Game = {
  id: 'g',
  name: 'G',
  opponents: [opponent('c', 'Perfect', 'Took 80%.'), opponent('b', 'Casual'), opponent('a', null)],
};

describe('levels', () => {
  test('come weakest first, by name, with plain words', () => {
    expect(levelsOf(game)).toEqual([
      { id: 'a', name: 'Name of a', description: 'Name of a. What a is.' },
      { id: 'b', name: 'Casual', description: 'Name of b. What b is.' },
      { id: 'c', name: 'Perfect', description: 'Name of c. What c is. Took 80%.' },
    ]);
    expect(levelsOf(undefined)).toEqual([]);
  });

  test('begin above the one that moves at random', () => {
    expect(firstLevel(levelsOf(game))?.id).toBe('b');
    expect(firstLevel(levelsOf({ ...game, opponents: [opponent('a', 'Only')] }))?.id).toBe('a');
    expect(firstLevel([])).toBeUndefined();
  });

  test('say how strong an opponent is where that is known', () => {
    expect(wordsOn(opponent('x', 'Club', 'Took 72%.'))).toBe('What x is. Took 72%.');
    expect(wordsOn(opponent('x', null))).toBe('What x is.');
  });
});
