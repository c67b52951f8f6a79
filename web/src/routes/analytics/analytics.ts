/** A training in windows of steps, as cards and curves. */
import type { AnalyticsSummary, AnalyticsWindow } from '$lib/api/types';
import { NONE, count, measure, short, signed } from '$lib/format';

export const KPIS = [
  'return',
  'profit',
  'survival',
  'invalid_action_rate',
  'steps_per_sec',
  'evaluation',
  'length',
] as const;
export type KpiName = (typeof KPIS)[number];

const LABELS: Record<KpiName, string> = {
  return: 'Return',
  profit: 'Profit',
  survival: 'Survival',
  invalid_action_rate: 'Invalid actions',
  steps_per_sec: 'Steps/s',
  evaluation: 'Evaluation',
  length: 'Episode length',
};

export const labelOf = (name: string): string => LABELS[name as KpiName] ?? name;

/** A figure as its kind is read: returns with a sign, shares in percent, paces short. */
export function figure(
  name: string,
  value: number | null | undefined,
): [text: string, unit: string] {
  if (value === null || value === undefined) return [NONE, ''];
  switch (name) {
    case 'return':
    case 'profit':
    case 'evaluation':
      return [signed(value), ''];
    case 'survival':
    case 'invalid_action_rate':
      return [(100 * value).toFixed(1), '%'];
    case 'steps_per_sec':
      return [short(value), ''];
    default:
      return [measure(value), ''];
  }
}

/** A figure beside a line of the chart. */
export function tickOf(name: string, value: number): string {
  return name === 'survival' || name === 'invalid_action_rate'
    ? `${short(100 * value)}%`
    : short(value);
}

export interface Card {
  name: KpiName;
  label: string;
  text: string;
  unit: string;
  note: string;
}

/** What people look at first: as it is now, or as it was in a window against the one before. */
export function cards(
  summary: Pick<AnalyticsSummary, 'kpis'>,
  window: AnalyticsWindow | undefined,
  before: AnalyticsWindow | undefined,
): Card[] {
  return KPIS.flatMap((name) => {
    const kpi = summary.kpis.find((other) => other.name === name);
    if (!kpi) return [];
    const value = window ? window.figures[name]?.mean : kpi.value;
    const [text, unit] = figure(name, value);
    const note = window
      ? difference(name, value, before?.figures[name]?.mean, before?.window_id)
      : kpi.step === null
        ? 'not measured'
        : `at step ${count(kpi.step)}`;
    return [{ name, label: labelOf(name), text, unit, note }];
  });
}

/** The cards in a sentence, for who cannot see them. */
export function spokenCards(
  cards: readonly Card[],
  window: Pick<AnalyticsWindow, 'window_id'> | undefined,
  isOld: boolean,
): string {
  const known = cards.filter(({ text }) => text !== NONE);
  const said = known.map(({ label, text, unit }) => `${label} ${text}${unit}`).join(', ');
  return [
    window ? `Iteration ${window.window_id}.` : 'Latest figures.',
    ...(isOld ? ['They are old.'] : []),
    said ? `${said}.` : 'Nothing measured.',
  ].join(' ');
}

function difference(
  name: string,
  value: number | null | undefined,
  before: number | undefined,
  id: number | undefined,
): string {
  if (value == null) return 'not measured in it';
  if (before === undefined) return 'mean of the window';
  const change = value - before;
  const [text, unit] = figure(name, Math.abs(change));
  return `${change < 0 ? '-' : '+'}${text.replace(/^[+-]/, '')}${unit} against ${id}`;
}

/** What a source is, in words. */
export const SOURCES: Record<string, string> = {
  metrics: 'Metrics',
  evaluations: 'Evaluations',
  episode_metrics: 'Episode figures',
  heartbeat: 'Heartbeat',
  wandb: 'W&B',
};

/** KPIs of which something was measured, for the choice of the trend. */
export function measured(windows: readonly AnalyticsWindow[]): KpiName[] {
  return KPIS.filter((name) => windows.some(({ figures }) => figures[name]));
}

export interface Trend {
  window_id: number;
  step: number;
  mean: number;
  min: number;
  max: number;
}

export function trendOf(windows: readonly AnalyticsWindow[], name: string): Trend[] {
  return windows.flatMap(({ window_id, to_step, figures }) => {
    const it = figures[name];
    return it ? [{ window_id, step: to_step, mean: it.mean, min: it.min, max: it.max }] : [];
  });
}
