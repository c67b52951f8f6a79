/** What the overview says, in words and curves. */
import type { Alert, AlertKind, Cluster, LoggedMatch, Run, Series } from '$lib/api/types';
import { duration, percent, signed } from '$lib/format';
import { type Held, hasEnded } from '$lib/merge';
import { healthOf, isStale } from '$lib/state/stale';
import { isSelfPlay, strength } from '$lib/self-play';
import { PACE, REWARD } from '$lib/state/trends.svelte';

export const HOUR_S = 3600;

/** Runs at work, those that play before those that stand still, newest first. */
export function playing(runs: Iterable<Run>): Run[] {
  return [...runs]
    .filter((run) => !hasEnded(run) && run.state !== 'queued' && run.kind !== 'human')
    .sort(
      (a, b) =>
        Number(a.state === 'paused') - Number(b.state === 'paused') ||
        b.created_at.localeCompare(a.created_at),
    );
}

/** Runs in the queue, in their order. */
export function waiting(runs: Iterable<Run>): Run[] {
  return [...runs]
    .filter((run) => run.state === 'queued')
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** `4 runs playing, 1 paused, 2 waiting, 1 needs a look` */
export function headline(atWork: readonly Run[], nWaiting: number, nFiring: number): string {
  const nPaused = atWork.filter(({ state }) => state === 'paused').length;
  const nPlaying = atWork.length - nPaused;
  const parts = [
    nPlaying === 0
      ? 'Nothing is playing'
      : `${nPlaying} ${nPlaying === 1 ? 'run' : 'runs'} playing`,
    ...(nPaused > 0 ? [`${nPaused} paused`] : []),
    ...(nWaiting > 0 ? [`${nWaiting} waiting`] : []),
    ...(nFiring > 0 ? [`${nFiring} ${nFiring === 1 ? 'needs' : 'need'} a look`] : []),
  ];
  return parts.join(', ');
}

/** The badge of a card: what it does, or what is wrong with it. */
export function badge(run: Run): { word: string; tone: '' | 'live' | 'warn' } {
  if (isStale(run)) return { word: healthOf(run), tone: 'warn' };
  if (run.state !== 'running') return { word: run.state, tone: '' };
  if (run.activity === 'evaluating' || run.kind === 'eval') return { word: 'evaluating', tone: '' };
  return { word: 'running', tone: 'live' };
}

/** How well a run does: the figure, its name, and the curve that it is the end of. */
export function howWell(
  run: Run,
  trend: Held | undefined,
): { key: string; label: string; value: string } {
  if (isSelfPlay(run)) return strength(trend?.series);
  const result = run.match_result;
  if (result) return { key: REWARD, label: 'Score', value: `${(100 * result.score).toFixed(1)}%` };
  return { key: REWARD, label: 'Reward', value: signed(run.mean_reward) };
}

export function timeLeft(run: Run): string {
  if (run.state === 'paused') return `${percent(run.progress)} done`;
  if (isStale(run) || run.eta_seconds === null) return 'no estimate';
  // Two years are no estimate that anybody waits for.
  if (run.eta_seconds > 365 * 86_400) return 'no end in sight';
  return `${duration(run.eta_seconds).split(' ').slice(0, 2).join(' ')} left`;
}

const ALERT_TITLES: Record<AlertKind, string> = {
  heartbeat_stale: 'Heartbeat missing',
  not_finite: 'Not a number',
  reward_collapse: 'Reward collapsed',
  run_failed: 'Run failed',
  api_latency: 'The lab answers slowly',
  disk: 'Little room on the disk',
};

export function alertTitle(alert: Alert): string {
  return ALERT_TITLES[alert.kind];
}

/** The part of a curve since a moment, in Unix seconds. */
export function since(
  line: Series | undefined,
  from: number,
): { x: number[]; values: (number | null)[] } {
  const start = line ? line.t.findIndex((t) => t >= from) : -1;
  if (!line || start < 0) return { x: [], values: [] };
  return { x: line.t.slice(start), values: line.value.slice(start) };
}

/** The hour until now, or what there is of it. */
export function hourOf(x: readonly number[], now: number): readonly [number, number] {
  return [Math.min(now - 60, Math.max(now - HOUR_S, x[0] ?? 0)), now];
}

/** Samples a second of all runs together, once for each of `bins` equal parts of the hour. */
export function totalPace(
  runs: Iterable<Held>,
  now: number,
  bins = 60,
): { x: number[]; values: number[] } {
  const width = HOUR_S / bins;
  const from = now - HOUR_S;
  const total = new Array<number>(bins).fill(0);
  let first = bins;
  for (const { series } of runs) {
    const { x, values } = since(series.get(PACE), from);
    const sums = new Map<number, [sum: number, n: number]>();
    x.forEach((t, index) => {
      const bin = Math.min(bins - 1, Math.floor((t - from) / width));
      const [sum, n] = sums.get(bin) ?? [0, 0];
      sums.set(bin, [sum + (values[index] ?? 0), n + 1]);
    });
    for (const [bin, [sum, n]] of sums) {
      total[bin] = (total[bin] ?? 0) + sum / n;
      first = Math.min(first, bin);
    }
  }
  const x = total.map((_, bin) => from + (bin + 1) * width);
  return { x: x.slice(first), values: total.slice(first) };
}

/** The matches of the two who met last, told from the newest's first player. */
export function newestPair(matches: readonly LoggedMatch[]): LoggedMatch[] {
  const newest = matches[0];
  if (!newest) return [];
  const { game, a, b } = newest;
  return matches.flatMap((match) => {
    if (match.game !== game) return [];
    if (match.a.key === a.key && match.b.key === b.key) return [match];
    if (match.a.key !== b.key || match.b.key !== a.key) return [];
    return [{ ...match, a, b, wins: match.losses, losses: match.wins }];
  });
}

/** Player A's share of the points of each match, oldest first. */
export function scores(matches: readonly LoggedMatch[]): { x: number[]; values: number[] } {
  const told = [...matches].reverse();
  return {
    x: told.map((_, index) => index),
    values: told.map(({ wins, draws, losses }) => {
      const games = wins + draws + losses;
      return games === 0 ? 0 : (wins + draws / 2) / games;
    }),
  };
}

/** The processes of the lab by kind: `lab 1, supervisors 2, trainers 2`. */
export function processes(pods: Cluster['pods']): string {
  const n = (kind: string) => pods.filter((pod) => pod.kind === kind).length;
  return `lab ${n('lab')}, supervisors ${n('supervisor')}, trainers ${n('trainer')}`;
}

/** What is used of the machine. CPU is that of the runs, memory and disk are those of everything. */
export function usage(cluster: Cluster) {
  const { pods, cores, disk_bytes, disk_free_bytes, memory_bytes, memory_free_bytes } = cluster;
  const sum = (values: (number | null)[]) => values.reduce<number>((all, it) => all + (it ?? 0), 0);
  const gpus = pods.flatMap(({ gpu_percent }) => (gpu_percent === null ? [] : [gpu_percent]));
  return {
    cores: sum(pods.map((pod) => pod.cpu_percent)) / 100,
    of: cores,
    /** Of the lab and its runs alone. */
    labMemory: sum(pods.map((pod) => pod.memory_bytes)),
    memory: taken(memory_bytes, memory_free_bytes),
    memoryOf: memory_bytes,
    disk: taken(disk_bytes, disk_free_bytes),
    diskOf: disk_bytes,
    gpu: gpus.length > 0 ? Math.max(...gpus) : null,
  };
}

function taken(all: number | null, free: number | null): number | null {
  return all === null || free === null ? null : all - free;
}
