/** What can be changed of the lab while it runs, and how that is typed. */
import type { Settings } from '$lib/api/types';

export type SectionName = keyof Settings;
export type Value = string | number | null;

export interface Field {
  name: string;
  label: string;
  kind: 'whole' | 'number' | 'size' | 'text' | 'link';
  unit?: string;
  help: string;
  /** What an empty field means, where it may be empty. */
  empty?: string;
}

export interface Section {
  name: SectionName;
  title: string;
  fields: readonly Field[];
}

/** A limit on how many of something stay, the newest ones. */
const newest = (name: string, label: string, help: string): Field => ({
  name,
  label,
  kind: 'whole',
  unit: 'newest',
  help,
  empty: 'all',
});

export const RETENTION: Section = {
  name: 'retention',
  title: 'Limits',
  fields: [
    newest('keep_checkpoints', 'Checkpoints of a run', 'Unless the run itself says.'),
    newest('keep_videos', 'Videos of a run', 'With those of its evaluations; likewise.'),
    newest('keep_tensorboard_runs', 'TensorBoard folders', 'In all.'),
    newest('keep_runs_per_experiment', 'Runs of an experiment', 'Without one, of an environment.'),
    newest('keep_runs_per_agent', 'Runs of an algorithm', 'In each environment.'),
    {
      name: 'milestone_every_steps',
      label: 'Milestones every',
      kind: 'whole',
      unit: 'steps',
      help: 'The first checkpoint after each multiple stays for good.',
      empty: 'none',
    },
    {
      name: 'max_bytes',
      label: 'Everything',
      kind: 'size',
      help: 'All that runs have made, with records and trash, such as 20 GB.',
      empty: 'no limit',
    },
  ],
};

export const ALERTS: Section = {
  name: 'alerts',
  title: 'Alerts',
  fields: [
    {
      name: 'api_p95_ms',
      label: 'Slowest answer',
      kind: 'number',
      unit: 'ms',
      help: '19 in 20 must be quicker.',
      empty: 'no alert',
    },
    {
      name: 'disk_free_bytes',
      label: 'Free on the disk',
      kind: 'size',
      help: 'At least, such as 2 GB.',
      empty: 'no alert',
    },
  ],
};

const price = (name: string, label: string, help: string): Field => ({
  name,
  label,
  kind: 'number',
  unit: 'an hour',
  help,
});

export const PRICES: Section = {
  name: 'prices',
  title: 'Prices',
  fields: [
    { name: 'currency', label: 'Currency', kind: 'text', help: 'Such as EUR.' },
    price('cpu_core_hour', 'CPU', 'A core.'),
    price('memory_gib_hour', 'Memory', 'A gibibyte.'),
    price('gpu_hour', 'GPU', 'A whole one.'),
  ],
};

const link = (name: string, label: string, help: string): Field => ({
  name,
  label,
  kind: 'link',
  help,
  empty: 'no link',
});

export const LINKS: Section = {
  name: 'links',
  title: 'Links to other tools',
  fields: [
    link('grafana', 'Grafana', 'Charts.'),
    link('tempo', 'Tempo', 'Traces.'),
    link('jaeger', 'Jaeger', 'Traces.'),
    link('loki', 'Loki', 'Logs.'),
  ],
};

const SIZES: readonly (readonly [unit: string, bytes: number])[] = [
  ['TB', 1e12],
  ['TiB', 2 ** 40],
  ['GB', 1e9],
  ['GiB', 2 ** 30],
  ['MB', 1e6],
  ['MiB', 2 ** 20],
  ['kB', 1e3],
  ['KiB', 2 ** 10],
  ['B', 1],
];

/** A value as it stands in its field. Sizes get the unit that leaves the fewest digits. */
export function write({ kind }: Field, value: Value): string {
  if (value === null) return '';
  if (kind !== 'size' || typeof value !== 'number') return String(value);
  const forms = SIZES.map(([unit, bytes]) => [value / bytes, unit] as const)
    .filter(([figure]) => Number.isInteger(figure * 10))
    .map(([figure, unit]) => `${figure} ${unit}`);
  return forms.reduce((best, form) => (form.length < best.length ? form : best), `${value} B`);
}

export type Read = { value: Value } | { complaint: string };

/** What was typed, as the lab takes it. Bounds are for the lab to say. */
export function read({ kind, empty }: Field, text: string): Read {
  const typed = text.trim();
  if (kind === 'text') return { value: typed };
  if (typed === '')
    return empty === undefined ? { complaint: 'A number, 0 for nothing.' } : { value: null };
  if (kind === 'link') return { value: typed };
  const [, digits = '', unit = ''] = /^([-+\d.,_\se]+)([a-z]*)$/i.exec(typed) ?? [];
  const number = digits.trim() === '' ? NaN : Number(digits.replaceAll(/[,_\s]/g, ''));
  if (kind === 'size') {
    const size = SIZES.find(([name]) => name.toLowerCase() === (unit || 'B').toLowerCase());
    if (!size || !(number >= 0)) return { complaint: 'A size, such as 500 MB or 20 GB.' };
    return { value: Math.round(number * size[1]) };
  }
  if (unit || !Number.isFinite(number) || (kind === 'whole' && !Number.isInteger(number)))
    return { complaint: kind === 'whole' ? 'A whole number.' : 'A number.' };
  return { value: number };
}
