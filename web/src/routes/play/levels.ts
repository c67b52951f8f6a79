/** Whom one can play, as people choose it: levels that are built in, and networks at a strength. */
import type { PlayableNetwork, Opponent, OpponentList } from '$lib/api/types';
import { count } from '$lib/format';

/** One line to choose. */
export interface LevelOption {
  id: string;
  name: string;
  description: string;
  /** Of a network: how much it searches, null where it cannot, and what it was rated at so. */
  strength?: { simulations: number | null; rating: PlayableNetwork['ratings'][number] | null };
}

/** The levels that are built in, weakest first. */
export function levelsOf(opponents: Pick<OpponentList, 'levels'> | undefined): LevelOption[] {
  return (opponents?.levels ?? []).toReversed().map((opponent) => ({
    id: opponent.id,
    name: opponent.level ?? opponent.name,
    description: `${opponent.name}. ${wordsOn(opponent)}`,
  }));
}

/** The level to begin with: the weakest that looks at what it does. */
export function firstLevel(levels: readonly LevelOption[]): LevelOption | undefined {
  return levels[1] ?? levels[0];
}

/** The strength to begin with: the weakest that looks ahead. */
export function firstStrength(
  network: PlayableNetwork,
  strengths: OpponentList['strengths'],
): LevelOption | undefined {
  const options = strengthsOf(network, strengths);
  return options[1] ?? options[0];
}

/** Whom to play who has chosen nobody: the best network, where there is one. */
export function firstOpponent(opponents: OpponentList | undefined): LevelOption | undefined {
  const network = opponents?.networks[0];
  return network
    ? firstStrength(network, opponents?.strengths ?? [])
    : firstLevel(levelsOf(opponents));
}

/** What an opponent is and how strong, in plain words. */
export function wordsOn(opponent: Opponent): string {
  return [opponent.description, opponent.strength].filter(Boolean).join(' ');
}

/** What a network is, in a line: which one, and where it comes from. */
export function nameOf({ kind, name, run_id, step }: PlayableNetwork): string {
  const at = step === null ? '' : `, step ${count(step)}`;
  switch (kind) {
    case 'best':
      return `Best: ${name}`;
    case 'shipped':
      return 'Shipped with the lab';
    case 'model':
      return `${name}${at}`;
    case 'checkpoint':
      return `${run_id ?? name}${at}`;
  }
}

/** The strengths that a network can be played at, weakest first. */
export function strengthsOf(
  { id, can_search, ratings }: PlayableNetwork,
  strengths: OpponentList['strengths'],
): LevelOption[] {
  if (!can_search) {
    const description = 'Its policy alone: it says nothing of how good a position is.';
    const strength = { simulations: null, rating: ratings[0] ?? null };
    return [{ id, name: 'Policy', description, strength }];
  }
  return strengths.map(({ name, simulations }) => {
    const rating = ratings.find((rating) => rating.simulations === simulations) ?? null;
    const description = simulations ? `Looks at ${count(simulations)} lines.` : 'Its policy alone.';
    return { id: `${id}:${simulations}`, name, description, strength: { simulations, rating } };
  });
}

/** With how many simulations somebody was rated, where it plays with others. */
export function ratedWith(
  { rated_simulations }: { rated_simulations: number | null },
  simulations: number | null,
): string | null {
  if (rated_simulations === simulations) return null;
  if (!rated_simulations) return 'rated by its policy alone';
  return `rated with ${count(rated_simulations)} simulation${rated_simulations === 1 ? '' : 's'}`;
}

/** The network that an opponent's id means, at whatever strength. */
export function networkOf(
  networks: readonly PlayableNetwork[],
  opponent: string,
): PlayableNetwork | undefined {
  const bare = opponent.replace(/:\d+$/, '');
  return (
    networks.find(({ id }) => id === opponent) ??
    networks.find(({ id }) => id === bare) ??
    checkpointOf(bare)
  );
}

/** A checkpoint of any run: only the newest are listed, and each can be played. */
export function checkpointOf(id: string): PlayableNetwork | undefined {
  const [, run_id = '', step = ''] = /^run:([\w-]+)@step_(\d+)$/.exec(id) ?? [];
  if (!run_id) return undefined;
  const name = `${run_id} at step ${Number(step)}`;
  return {
    id,
    kind: 'checkpoint',
    name,
    run_id,
    step: Number(step),
    can_search: true,
    ratings: [],
  };
}

/** The id by which a checkpoint in a run's folder is played. */
export function checkpointId(run: string, path: string): string {
  return `run:${run}@${path.split('/').at(-1) ?? ''}`;
}

/** Whether an id names somebody whom one can play. */
export function isOffered(opponents: OpponentList | undefined, id: string): boolean {
  if (!opponents) return false;
  if (opponents.levels.some((level) => level.id === id)) return true;
  const network = networkOf(opponents.networks, id);
  return (
    network !== undefined &&
    strengthsOf(network, opponents.strengths).some((option) => option.id === id)
  );
}
