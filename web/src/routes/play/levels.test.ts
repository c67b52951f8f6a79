import { describe, expect, test } from 'vitest';
import type { PlayableNetwork, Opponent, OpponentList } from '$lib/api/types';

import {
  checkpointId,
  firstLevel,
  firstOpponent,
  isOffered,
  levelsOf,
  nameOf,
  networkOf,
  ratedWith,
  strengthsOf,
  wordsOn,
} from './levels';

function opponent(id: string, level: string | null, strength: string | null = null): Opponent {
  const bare = { simulations: null, run_id: null, has_run: false, step: null, rating: null };
  return { id, name: `Name of ${id}`, description: `What ${id} is.`, level, strength, ...bare };
}

function network(id: string, more: Partial<PlayableNetwork> = {}): PlayableNetwork {
  const plain = { kind: 'model', name: id, run_id: null, step: null, can_search: true } as const;
  return { id, ...plain, ratings: [], ...more };
}

const RATED = { rating: 1520, standard_error: 26, games: 40, anchor: 'a' };
const RATING = { ...RATED, simulations: 25, rated_simulations: 64 };
const game: OpponentList = {
  game: 'g',
  game_name: 'G',
  levels: [opponent('c', 'Perfect', 'Took 80%.'), opponent('b', 'Casual'), opponent('a', null)],
  networks: [
    network('best', { kind: 'best', name: 'g@2', ratings: [RATING] }),
    network('model:g@2'),
    network('onnx', { can_search: false }),
  ],
  strengths: [
    { name: 'Novice', simulations: 0 },
    { name: 'Casual', simulations: 25 },
  ],
  most_simulations: 10_000,
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
    expect(firstLevel(levelsOf({ levels: [opponent('a', 'Only')] }))?.id).toBe('a');
    expect(firstLevel([])).toBeUndefined();
  });

  test('a network that looks ahead is played at first, where there is one', () => {
    expect(firstOpponent(game)?.id).toBe('best:25');
    expect(firstOpponent({ ...game, networks: [] })?.id).toBe('b');
    expect(firstOpponent({ ...game, networks: [network('onnx', { can_search: false })] })?.id).toBe(
      'onnx',
    );
    expect(firstOpponent(undefined)).toBeUndefined();
  });

  test('say how strong an opponent is where that is known', () => {
    expect(wordsOn(opponent('x', 'Club', 'Took 72%.'))).toBe('What x is. Took 72%.');
    expect(wordsOn(opponent('x', null))).toBe('What x is.');
  });
});

describe('networks', () => {
  const [best, model, plain] = game.networks as [PlayableNetwork, PlayableNetwork, PlayableNetwork];

  test('are played at strengths by name, with what they were rated at', () => {
    const [novice, casual] = strengthsOf(best, game.strengths);
    expect(novice).toMatchObject({ id: 'best:0', name: 'Novice', strength: { simulations: 0 } });
    expect(casual?.strength).toEqual({ simulations: 25, rating: RATING });
  });

  test('say with what they were rated where that is something else', () => {
    const rated = (rated_simulations: number | null) => ratedWith({ rated_simulations }, 25);
    expect([64, 25, 0, 1].map(rated)).toEqual([
      'rated with 64 simulations',
      null,
      'rated by its policy alone',
      'rated with 1 simulation',
    ]);
    expect(ratedWith({ rated_simulations: null }, null)).toBeNull();
  });

  test('that cannot search have one strength, and no number', () => {
    expect(strengthsOf(plain, game.strengths)).toMatchObject([
      { id: 'onnx', strength: { simulations: null } },
    ]);
  });

  test('are found by what names them, at any strength', () => {
    expect(networkOf(game.networks, 'model:g@2:1600')).toBe(model);
    expect(networkOf(game.networks, 'onnx')).toBe(plain);
    expect(networkOf(game.networks, 'builtin:mcts:100')).toBeUndefined();
  });

  test('are offered at the strengths that there are', () => {
    for (const id of ['a', 'best:25', 'onnx']) expect(isOffered(game, id)).toBe(true);
    for (const id of ['best:26', 'onnx:25', 'z', '']) expect(isOffered(game, id)).toBe(false);
    expect(isOffered(undefined, 'a')).toBe(false);
  });

  test('say which they are', () => {
    expect(nameOf(best)).toBe('Best: g@2');
    expect(nameOf(network('x', { kind: 'checkpoint', name: 'r-1', step: 48_000 }))).toBe(
      'r-1, step 48,000',
    );
    expect(nameOf(network('x', { kind: 'shipped' }))).toBe('Shipped with the lab');
  });
});

test('a checkpoint that is not listed can be played all the same', () => {
  const id = checkpointId('r-a1', 'checkpoints/step_000009000');
  expect(id).toBe('run:r-a1@step_000009000');
  expect(networkOf(game.networks, `${id}:25`)).toMatchObject({ id, run_id: 'r-a1', step: 9000 });
  expect(isOffered(game, `${id}:25`)).toBe(true);
  expect(isOffered(game, `${id}:26`)).toBe(false);
  expect(isOffered(game, 'run:r-a1@latest:25')).toBe(false);
});
