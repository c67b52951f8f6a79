/** Who can play at a game or in an environment, written as matches and tournaments take it. */
import { api } from '$lib/api/client';
import type { Game, Model, Run } from '$lib/api/types';
import { count } from '$lib/format';

export interface Candidate {
  /** As it is sent: `builtin:mcts:100`, `model:lander@best`, `r-7f3k2m`. */
  id: string;
  name: string;
}

export interface CandidateGroup {
  label: string;
  candidates: readonly Candidate[];
}

/** Built in where every environment is played at random, and some have scripted players too. */
const SCRIPTED: Record<string, readonly Candidate[]> = {
  'AsteroidProspector-v0': [
    { id: 'greedy_miner', name: 'Greedy miner, scripted' },
    { id: 'oracle', name: 'Oracle, scripted: sees what is hidden' },
  ],
};

/** Those that can be named, by kind; groups that nobody is in are left out. */
export function candidates(
  place: string,
  games: readonly Game[],
  models: readonly Model[],
  runs: readonly Run[],
): CandidateGroup[] {
  const game = games.find(({ id }) => id === place);
  const builtin = game
    ? game.opponents.map(({ id, name, level }) => ({
        id,
        name: level ? `${name} (${level})` : name,
      }))
    : [{ id: 'random', name: 'Random actions' }, ...(SCRIPTED[place] ?? [])];
  const groups: CandidateGroup[] = [
    {
      label: 'Models',
      candidates: models.flatMap(({ name, aliases, usual, n_versions }) => [
        {
          id: `model:${name}@${usual.version}`,
          name: `${name} @ ${aliases.best ? 'best' : 'newest'}, version ${usual.version}`,
        },
        ...(aliases.latest && aliases.latest !== usual.version
          ? [{ id: `model:${name}@${n_versions}`, name: `${name} @ newest, version ${n_versions}` }]
          : []),
      ]),
    },
    {
      label: 'Runs, best checkpoint or newest',
      candidates: runs
        .filter(({ checkpoint_step }) => checkpoint_step !== null)
        .map(({ id, name, checkpoint_step }) => ({
          id,
          name: `${id}: ${name}, step ${count(checkpoint_step)}`,
        })),
    },
    { label: 'Built in', candidates: builtin },
  ];
  return groups.filter((group) => group.candidates.length > 0);
}

/** The same, asked for. */
export async function findCandidates(
  place: string,
  games: readonly Game[],
): Promise<CandidateGroup[]> {
  const [{ models }, { runs }] = await Promise.all([
    api.get('/api/models', { query: { env: place } }),
    api.get('/api/runs', { query: { kind: 'train', env: place, limit: 100 } }),
  ]);
  return candidates(place, games, models, runs);
}
