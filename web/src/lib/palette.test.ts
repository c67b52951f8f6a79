import { expect, test } from 'vitest';

import type { Run } from '$lib/api/types';

import { PAGES } from './pages';
import { pageCommands, runCommands, search } from './palette';

const run = (id: string, state: string, capabilities: string[]) =>
  ({
    id,
    state,
    capabilities,
    name: 'Cart Pole, PPO, seed 1',
    env_id: 'CartPole-v1',
    algorithm: 'ppo',
    kind: 'train',
    created_at: '2026-01-01T00:00:00Z',
  }) as unknown as Run;

const OFFERED = [
  ...pageCommands(PAGES),
  ...runCommands(
    [
      run('r-aaaaaa', 'running', ['pause', 'stop', 'tune']),
      run('r-bbbbbb', 'succeeded', ['resume', 'fork']),
    ],
    null,
  ),
];

const ids = (typed: string) => search(OFFERED, typed).map(({ id }) => id);

test('without a word: the pages and the runs, and nothing that changes a run', () => {
  expect(ids('')).toContain('page /lab');
  expect(ids('')).toContain('run r-bbbbbb');
  expect(ids('').some((id) => id.startsWith('stop'))).toBe(false);
});

test.each([
  ['stop', ['stop r-aaaaaa']],
  ['pause cart', ['pause r-aaaaaa']],
  ['r-bbb', ['run r-bbbbbb']],
  ['pole succeeded', ['run r-bbbbbb']],
  ['resume', []],
  ['no such thing', []],
])('%s', (typed, found) => {
  expect(ids(typed)).toEqual(found);
});

test('what begins with the word comes first', () => {
  expect(ids('ru')[0]).toBe('page /runs');
});

test('a viewer sees why not', () => {
  const [command] = search(
    runCommands([run('r-aaaaaa', 'running', ['stop'])], 'viewers look'),
    'stop',
  );
  expect(command?.refusal).toBe('viewers look');
});
