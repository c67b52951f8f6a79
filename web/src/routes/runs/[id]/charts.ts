/** Which metrics get a chart, in which order and how they read. Unknown ones follow by key. */
import type { Entry, Run, Series } from '$lib/api/types';
import type { Axis } from '$lib/chart/look';
import type { Mark, MarkKind } from '$lib/chart/marks';
import { measure, percent, short, signed } from '$lib/format';

type Format = (value: number | null | undefined) => string;

/** A chart, and what it shows. */
export type RunChart = Look & { series: Series };

interface Look {
  key: string;
  title: string;
  unit?: string;
  format: Format;
  /** Few and exact points are shown as they are. */
  exact?: boolean;
  /** A share of what the machine has: its axis begins at zero. */
  fromZero?: boolean;
}

/** Where charts stand: their axis, and what they show of it. */
export interface Place {
  axis: Axis;
  /** When the run began, for an axis that tells how long ago that was. */
  start: number;
  range: readonly [number, number];
  /** All that there is to show. */
  full: readonly [number, number];
}

const small: Format = (value) => measure(value, 3);

const share: Format = (value) => (value == null ? '–' : percent(value));

/** Of few errors it matters how few. */
const errors: Format = (value) => (value == null ? '–' : `${(100 * value).toFixed(1)}%`);

/** Value errors at the positions of one set, which follow those at all. */
const OF_A_SET = /^solver\/value_error_(hard_)?(l\d_r\d)$/;

/** What a training by self-play measures, in the order in which people ask. */
const OF_SELF_PLAY: Look[] = [
  { key: 'arena/elo', title: 'Rating', unit: 'Elo', format: small, exact: true },
  { key: 'arena/score_best', title: 'Score against the best', format: share, exact: true },
  { key: 'arena/score_baseline', title: 'Score against the baseline', format: share, exact: true },
  {
    key: 'arena/score_strong',
    title: 'Score against the strong baseline',
    format: share,
    exact: true,
  },
  { key: 'solver/value_error', title: 'Value errors', format: errors },
  { key: 'solver/value_error_hard', title: 'Value errors, hard positions', format: errors },
  { key: 'train/policy_loss', title: 'Policy loss', format: small },
  { key: 'train/value_loss', title: 'Value loss', format: small },
  { key: 'train/policy_kl', title: 'Distance from the search', unit: 'nat', format: small },
  { key: 'self_play/games_per_sec', title: 'Games/s', format: short },
  { key: 'replay/positions', title: 'Positions in the window', format: short },
  { key: 'rollout/ep_len_mean', title: 'Game length', unit: 'moves', format: small },
  { key: 'train/learning_rate', title: 'Learning rate', format: small, exact: true },
  { key: 'time/fps', title: 'Moves/s', format: short },
];

const LOOKS: Look[] = [
  { key: 'rollout/ep_rew_mean', title: 'Mean return', format: (value) => signed(value) },
  { key: 'rollout/ep_len_mean', title: 'Episode length', unit: 'steps', format: small },
  { key: 'eval/mean_reward', title: 'Evaluation', format: (value) => signed(value), exact: true },
  { key: 'train/loss', title: 'Loss', format: small },
  { key: 'train/value_loss', title: 'Value loss', format: small },
  { key: 'train/entropy', title: 'Entropy', unit: 'nat', format: small },
  { key: 'train/approx_kl', title: 'KL', format: small },
  { key: 'train/explained_variance', title: 'Explained variance', format: small },
  { key: 'train/learning_rate', title: 'Learning rate', format: small, exact: true },
  { key: 'time/fps', title: 'Steps/s', format: short },
  {
    key: 'eval/mean_ep_length',
    title: 'Evaluation length',
    unit: 'steps',
    format: small,
    exact: true,
  },
];

/** Bounds and doubles of other metrics, and counters, which say little in a chart of their own. */
const WITHOUT_CHART = [
  'eval/ci95_low',
  'eval/ci95_high',
  'train/old_approx_kl',
  'train/n_updates',
  'time/episodes',
];

const EMPTY: Series = { key: '', label: '', step: [], t: [], value: [] };

/**
 * The charts of a run: of our own trainings the known ones from the start, so that the layout does
 * not jump; of others what there is. What `whole` shows will never come is left out: nothing comes
 * after the end, and a trainer tells all that it measures of its updates with the first of them.
 */
export function chartsOf(
  series: ReadonlyMap<string, Series>,
  whole: ReadonlyMap<string, Series>,
  { isOurs, ended, isSelfPlay = false }: { isOurs: boolean; ended: boolean; isSelfPlay?: boolean },
): RunChart[] {
  const all = isSelfPlay ? [...OF_SELF_PLAY] : LOOKS;
  if (isSelfPlay) {
    const hard = all.findIndex(({ key }) => key === 'solver/value_error_hard');
    all.splice(hard + 1, 0, ...bySet(whole));
  }
  const known = new Set([...all.map((look) => look.key), ...WITHOUT_CHART]);
  const others = [...series.values()]
    .filter((line) => !known.has(line.key))
    .sort((a, b) => a.key.localeCompare(b.key))
    .map(({ key, label }) => {
      return { key, title: label, format: key.startsWith('solver/') ? share : small };
    });
  const updates = [...whole.keys()].some((key) => key.startsWith('train/'));
  // A solver answers before the second update is told, or there is none for the game.
  const isLate = [...whole.values()].some(({ step }) => step.length > 1);
  const mayCome = ({ key }: Look) =>
    isOurs &&
    !(ended && whole.size > 0) &&
    !(updates && key.startsWith('train/')) &&
    !(isLate && key.startsWith('solver/'));
  const looks = all.filter((look) => whole.has(look.key) || mayCome(look));
  return [...looks, ...others].map((look) => ({ ...look, series: series.get(look.key) ?? EMPTY }));
}

/** The sets of positions at which a solver was asked, in the order of their names; hard ones last. */
function bySet(whole: ReadonlyMap<string, Series>): Look[] {
  return [...whole.keys()]
    .flatMap((key) => {
      const [, hard, set] = OF_A_SET.exec(key) ?? [];
      return set ? [{ key, isHard: hard !== undefined, set: set.toUpperCase() }] : [];
    })
    .sort((a, b) => Number(a.isHard) - Number(b.isHard) || a.set.localeCompare(b.set))
    .map(({ key, isHard, set }) => {
      const title = `Value errors, ${set}${isHard ? ', hard positions' : ''}`;
      return { key, title, format: errors };
    });
}

/** When the run's first point was measured, in Unix seconds. */
export function startOf(series: ReadonlyMap<string, Series>): number {
  let first = Infinity;
  for (const line of series.values()) first = Math.min(first, line.t[0] ?? Infinity);
  return Number.isFinite(first) ? first : 0;
}

/** A series' points on the chosen axis. */
export function xOf(line: Pick<Series, 'step' | 't'>, axis: Axis, start: number): number[] {
  switch (axis) {
    case 'steps':
      return line.step;
    case 'wall':
      return line.t;
    case 'relative':
      return line.t.map((t) => t - start);
  }
}

/** What all charts show when nobody has zoomed: from the start to the newest point. */
export function fullRange(
  series: ReadonlyMap<string, Series>,
  axis: Axis,
  start: number,
): [number, number] {
  let end = -Infinity;
  for (const line of series.values()) {
    const newest = (axis === 'steps' ? line.step : line.t).at(-1) ?? -Infinity;
    end = Math.max(end, axis === 'relative' ? newest - start : newest);
  }
  const begin = axis === 'wall' ? start : 0;
  if (!Number.isFinite(end)) return [begin, begin + 1];
  return [begin, end > begin ? end : begin + 1];
}

const KINDS: Record<string, MarkKind> = {
  tune_applied: 'tune',
  checkpoint_saved: 'checkpoint',
  evaluation_complete: 'evaluation',
};

/**
 * What deserves a mark on every chart: changes of settings, checkpoints, evaluations, and where an
 * attempt broke off, which is known by the next start or by the failure of the run.
 */
export function marksOf(
  run: Pick<Run, 'failure' | 'ended_at' | 'step'>,
  log: readonly Entry[],
  series: ReadonlyMap<string, Series>,
  axis: Axis,
  start: number,
): Mark[] {
  const at = (step: number, t: number) =>
    axis === 'steps' ? step : axis === 'wall' ? t : t - start;
  const marks: Mark[] = [];
  let ended = false;
  for (const entry of log) {
    const kind = KINDS[entry.type];
    if (kind && entry.step !== null) marks.push({ kind, x: at(entry.step, entry.t) });
    if (entry.type === 'restored' && !ended) {
      const last = lastBefore(series, entry.t);
      if (last) marks.push({ kind: 'crash', x: at(...last) });
    }
    // An attempt that ends as it should says so; a new start without it comes after a crash.
    if (entry.type === 'done') ended = true;
    else if (entry.type === 'training_started') ended = false;
  }
  if (run.failure && run.ended_at) {
    // The end comes after the last point, beyond what the charts show.
    const ended = Date.parse(run.ended_at) / 1000;
    marks.push({ kind: 'crash', x: at(...(lastBefore(series, ended) ?? [run.step, ended])) });
  }
  return marks;
}

/** The newest point before a moment: where it was when it broke off. */
function lastBefore(
  series: ReadonlyMap<string, Series>,
  t: number,
): [step: number, t: number] | null {
  const line = series.get('time/fps') ?? series.values().next().value;
  const index = line?.t.findLastIndex((time) => time < t) ?? -1;
  return line && index >= 0 ? [line.step[index] ?? 0, line.t[index] ?? t] : null;
}
