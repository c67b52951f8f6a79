import { expect, test } from 'vitest';

import type { Game, Model, Run } from '$lib/api/types';

import { candidates } from './players';

const GAMES = [
  {
    id: 'connect4',
    name: 'Connect 4',
    opponents: [{ id: 'builtin:random', name: 'Random mover', level: 'Beginner' }],
  },
] as Game[];
const MODEL = {
  name: 'pole',
  aliases: { best: 1, latest: 3 },
  n_versions: 3,
  usual: { version: 1 },
} as unknown as Model;
const RUNS = [
  { id: 'r-1', name: 'Cart Pole, PPO', checkpoint_step: 20480 },
  { id: 'r-2', name: 'too young', checkpoint_step: null },
] as Run[];

test('at a board there are its levels', () => {
  expect(candidates('connect4', GAMES, [], [])).toEqual([
    {
      label: 'Built in',
      candidates: [{ id: 'builtin:random', name: 'Random mover (Beginner)' }],
    },
  ]);
});

test('in an environment there are models, runs with a checkpoint, and chance', () => {
  const groups = candidates('CartPole-v1', GAMES, [MODEL], RUNS);
  expect(groups.map((group) => group.candidates.map(({ id }) => id))).toEqual([
    ['model:pole@1', 'model:pole@3'],
    ['r-1'],
    ['random'],
  ]);
  expect(groups[1]?.candidates[0]?.name).toBe('r-1: Cart Pole, PPO, step 20,480');
});

test('the prospector has scripted players too', () => {
  const [only] = candidates('AsteroidProspector-v0', GAMES, [], []);
  expect(only?.candidates.map(({ id }) => id)).toEqual(['random', 'greedy_miner', 'oracle']);
});
