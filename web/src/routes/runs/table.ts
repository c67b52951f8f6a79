/** Which runs are shown, in which order, and in which groups. Ten thousand of them, many times a minute. */
import type { Run, RunState } from '$lib/api/types';
import { NONE, age, short } from '$lib/format';
import { hasEnded } from '$lib/merge';

export type SortKey =
  | 'created'
  | 'name'
  | 'experiment'
  | 'state'
  | 'step'
  | 'pace'
  | 'return'
  | 'best'
  | 'seen'
  | 'beat'
  | 'cost'
  | 'group';

export interface Arrangement {
  text: string;
  state: string;
  kind: string;
  sort: SortKey;
  descending: boolean;
  grouped: boolean;
  /** Groups that are folded. */
  folded: ReadonlySet<string>;
}

export interface GroupRow {
  key: string;
  title: string;
  runs: Run[];
  /** Mean of the latest returns, and half the way between the least and the greatest. */
  mean: number | null;
  spread: number | null;
  active: number;
}

export type Row = { run: Run; group: null } | { run: null; group: GroupRow };

/** The runs of some rows, each once: those of an unfolded group have rows of their own, too. */
export function runsOf(rows: readonly Row[]): Run[] {
  const listed = rows.flatMap(({ run, group }) => group?.runs ?? (run ? [run] : []));
  return [...new Map(listed.map((run) => [run.id, run])).values()];
}

/** Sets of states that people look for. */
export const STATES: Record<string, readonly RunState[]> = {
  active: ['queued', 'starting', 'running', 'paused', 'stopping'],
  ended: ['succeeded', 'terminated'],
  failed: ['failed', 'lost'],
};

/** What they can be ordered by, in words. */
export const SORTS: Record<SortKey, string> = {
  created: 'Run',
  name: 'Name',
  experiment: 'Experiment',
  state: 'State',
  step: 'Steps',
  pace: 'Samples/s',
  return: 'Return',
  best: 'Best eval',
  seen: 'Last step',
  beat: 'Heartbeat',
  cost: 'Cost',
  group: 'Seed group',
};

const SORT_KEYS: Record<SortKey, (run: Run) => number | string | null> = {
  created: (run) => run.created_at,
  name: (run) => run.name,
  experiment: (run) => run.experiment_id,
  state: (run) => run.state,
  step: (run) => run.step,
  pace: (run) => run.steps_per_sec,
  return: (run) => latestReturn(run),
  best: (run) => run.match_result?.score ?? run.best_eval?.mean ?? null,
  seen: (run) => run.stepped_at,
  // Of what is at work: how long it has been silent.
  beat: (run) => (hasEnded(run) ? null : run.heartbeat_age_ms),
  cost: (run) => run.cost?.so_far ?? null,
  group: (run) => run.group,
};

export function isSortKey(text: string): text is SortKey {
  return text in SORT_KEYS;
}

/** What is read from A to Z; of the rest the most comes first. */
export function isWord(key: SortKey): boolean {
  return key === 'name' || key === 'experiment' || key === 'group';
}

/** How long ago it last stepped, `3 s ago`: of what is at work as of what has ended. */
export function lastStep(run: Pick<Run, 'stepped_at'>, nowMs: number): string {
  return run.stepped_at === null ? NONE : `${age(run.stepped_at, nowMs)} ago`;
}

/** What the newest episodes, or the evaluation itself, came to. */
export function latestReturn(run: Run): number | null {
  return run.mean_reward ?? run.latest_eval?.mean ?? null;
}

/** The rows of the table. */
export function arrange(runs: readonly Run[], how: Arrangement): Row[] {
  const shown = sorted(
    runs.filter((run) => matches(run, how)),
    how,
  );
  if (!how.grouped) return shown.map((run) => ({ run, group: null }));
  const groups = new Map<string, Run[]>();
  for (const run of shown) {
    const key = groupKey(run);
    const members = groups.get(key);
    if (members) members.push(run);
    else groups.set(key, [run]);
  }
  const heads = told([...groups].map(([key, members]) => groupRow(key, members)));
  return heads.flatMap((group): Row[] => {
    const head: Row = { run: null, group };
    if (how.folded.has(group.key)) return [head];
    return [head, ...group.runs.map((run): Row => ({ run, group: null }))];
  });
}

/** Says of groups of one title what tells them apart: their length, or else their configuration. */
function told(groups: GroupRow[]): GroupRow[] {
  const named = new Map<string, GroupRow[]>();
  for (const group of groups) named.set(group.title, [...(named.get(group.title) ?? []), group]);
  return groups.map((group) => {
    const alike = named.get(group.title) ?? [];
    if (alike.length < 2) return group;
    const lengths = new Set(alike.map(lengthOf));
    const mark = lengths.size === alike.length ? lengthOf(group) : group.key.slice(0, 6);
    return { ...group, title: `${group.title}, ${mark}` };
  });
}

function lengthOf({ runs }: GroupRow): string {
  return `${short(runs[0]?.total_timesteps)} steps`;
}

const hays = new WeakMap<Run, string>();

function matches(run: Run, { text, state, kind }: Arrangement): boolean {
  if (kind && run.kind !== kind) return false;
  if (state && !(STATES[state]?.includes(run.state) ?? run.state === state)) return false;
  if (!text) return true;
  let hay = hays.get(run);
  if (hay === undefined) {
    const { id, kind: of, name, env_id, env_name, algorithm, experiment_id, group } = run;
    hay = [id, of, name, env_id, env_name, algorithm, run.state, experiment_id, group, run.of_run]
      .join(' ')
      .toLowerCase();
    hays.set(run, hay);
  }
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}

function sorted(runs: Run[], { sort, descending }: Arrangement): Run[] {
  const key = SORT_KEYS[sort];
  const sign = descending ? -1 : 1;
  return runs.sort((a, b) => {
    // What is kept on purpose stays on top of what is merely new.
    if (sort === 'created' && a.pinned !== b.pinned) return a.pinned ? -1 : 1;
    const [left, right] = [key(a), key(b)];
    if (left !== right) {
      // Nothing comes last, whichever way.
      if (left === null) return 1;
      if (right === null) return -1;
      return left < right ? -sign : sign;
    }
    return a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0;
  });
}

/** Runs that differ by their seed alone; evaluations by what they measure. */
function groupKey(run: Run): string {
  if (run.config_hash) return run.config_hash;
  if (run.group) return run.group;
  if (run.kind === 'eval')
    return run.of_run ? `evaluations of ${run.of_run}` : `${run.env_id} matches`;
  return [run.experiment_id, run.env_id, run.algorithm].filter(Boolean).join(' / ');
}

function groupRow(key: string, runs: Run[]): GroupRow {
  const returns = runs.flatMap((run) => latestReturn(run) ?? []);
  const first = runs[0];
  const isConfig = first && (first.config_hash === key || first.group === key);
  const title = first && isConfig ? withoutSeed(first.name) : key;
  return {
    key,
    title,
    runs,
    mean: returns.length > 0 ? returns.reduce((sum, it) => sum + it, 0) / returns.length : null,
    spread: returns.length > 1 ? (Math.max(...returns) - Math.min(...returns)) / 2 : null,
    active: runs.filter((run) => STATES.active?.includes(run.state)).length,
  };
}

/** `Cart Pole, PPO, seed 42` without its seed. */
export function withoutSeed(name: string): string {
  return name.replace(/, seed \d+/, '');
}

/** The rows on screen, of rows of one height, with some to spare on either side. */
export function windowOf(
  n: number,
  height: number,
  scrolled: number,
  visible: number,
): { from: number; to: number } {
  const SPARE = 8;
  const from = Math.max(0, Math.floor(scrolled / height) - SPARE);
  const to = Math.min(n, Math.ceil((scrolled + visible) / height) + SPARE);
  return { from: Math.min(from, to), to };
}
