/**
 * Settings of a configuration, as the lab's schemas describe them: what a form shows of each, what
 * may be typed, and where a slider stands. The bounds are those that the server checks.
 */
import { numberOf } from './schedule';
import { NONE, count } from '$lib/format';

/** A value of a configuration. */
export type Value = string | number | boolean | null | readonly Value[];

export interface Setting {
  /** `trainer.learning_rate` */
  path: string;
  group: string;
  title: string;
  help: string;
  kind: 'number' | 'boolean' | 'choice' | 'numbers' | 'words' | 'text';
  whole: boolean;
  /** Whether it may be left empty, which is `null`. */
  nullable: boolean;
  /** What else than a number may be written, such as `lin_0.001`. */
  pattern: RegExp | null;
  min: number | null;
  max: number | null;
  /** Whether the bounds themselves are left out. */
  aboveMin: boolean;
  belowMax: boolean;
  step: number | null;
  log: boolean;
  unit: string;
  /** Of a choice, and of a list of words. */
  choices: readonly string[];
  /** How many letters a text may have. */
  longest?: number;
  /** How many a list has. */
  counts: readonly [least: number, most: number];
  default: Value;
  /** Its bounds while a run trains; null where it cannot be tuned. */
  tunable: { min: number | null; max: number | null } | null;
}

export interface Preset {
  id: string;
  title: string;
  description: string;
  changes: readonly { path: string; old: Value; new: Value }[];
}

export interface SettingGroup {
  name: string;
  settings: readonly Setting[];
}

export interface Form {
  title: string;
  groups: readonly SettingGroup[];
  settings: readonly Setting[];
  presets: readonly Preset[];
}

/** What this file reads of a JSON Schema. */
interface Schema {
  title?: string;
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  default?: Value;
  enum?: Value[];
  items?: Schema;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  'x-path'?: string;
  'x-group'?: string;
  'x-unit'?: string;
  'x-scale'?: string;
  'x-step'?: number;
  'x-order'?: number;
  'x-tunable'?: false | Schema;
  'x-presets'?: Preset[];
}

/** The form of a whole configuration, as `/api/schemas/ppo:CartPole-v1` describes it. */
export function readForm(document: unknown): Form {
  const schema = document as Schema;
  const groups: { name: string; settings: (Setting & { order: number })[] }[] = [];
  const walk = (node: Schema) => {
    if (node['x-path'] !== undefined) {
      const setting = { ...readSetting(node), order: node['x-order'] ?? 0 };
      const group = groups.find(({ name }) => name === setting.group);
      if (group) group.settings.push(setting);
      else groups.push({ name: setting.group, settings: [setting] });
    } else for (const inner of Object.values(node.properties ?? {})) walk(inner);
  };
  walk(schema);
  // The environment's own options come after what every training has.
  groups.sort((a, b) => rank(a.name) - rank(b.name));
  for (const group of groups) group.settings.sort((a, b) => a.order - b.order);
  return {
    title: schema.title ?? '',
    groups,
    settings: groups.flatMap((group) => group.settings),
    presets: schema['x-presets'] ?? [],
  };
}

const FIRST = ['Training', 'Simulation', 'Environment'];

function rank(group: string): number {
  const place = FIRST.indexOf(group);
  return place < 0 ? FIRST.length : place;
}

function readSetting(schema: Schema): Setting {
  const path = schema['x-path'] ?? '';
  const types = [schema.type ?? []].flat();
  const isNumber = types.includes('number') || types.includes('integer');
  const tunable = schema['x-tunable'];
  return {
    path,
    group: schema['x-group'] ?? 'What runs may change',
    title: schema.title ?? path,
    help: schema.description ?? '',
    kind: types.includes('boolean')
      ? 'boolean'
      : isNumber
        ? 'number'
        : types.includes('array')
          ? schema.items?.enum
            ? 'words'
            : 'numbers'
          : schema.enum
            ? 'choice'
            : 'text',
    whole: types.includes('integer') || schema.items?.type === 'integer',
    nullable: types.includes('null'),
    pattern: schema.pattern ? new RegExp(schema.pattern) : null,
    min: schema.exclusiveMinimum ?? schema.minimum ?? schema.items?.minimum ?? null,
    max: schema.exclusiveMaximum ?? schema.maximum ?? schema.items?.maximum ?? null,
    aboveMin: schema.exclusiveMinimum !== undefined,
    belowMax: schema.exclusiveMaximum !== undefined,
    step: schema['x-step'] ?? null,
    log: schema['x-scale'] === 'log',
    unit: schema['x-unit'] ?? '',
    choices: (schema.enum ?? schema.items?.enum ?? []).map(String),
    counts: [schema.minItems ?? 0, schema.maxItems ?? 100],
    default: schema.default ?? null,
    tunable: tunable
      ? {
          min: tunable.exclusiveMinimum ?? tunable.minimum ?? null,
          max: tunable.exclusiveMaximum ?? tunable.maximum ?? null,
        }
      : null,
  };
}

/** A value as it stands in a field, to be read again by `parse`. */
export function write(setting: Setting, value: Value): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'number')
    return setting.whole && Math.abs(value) >= 10_000 ? count(value) : String(value);
  return String(value);
}

/** A value for people; what is not there has a dash. */
export function show(value: Value | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (typeof value === 'number' && Number.isInteger(value)) return count(value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(show).join(', ');
  return String(value);
}

export type Parsed = { value: Value; complaint?: undefined } | { complaint: string };

/** What was typed as a value, or what is wrong with it. */
export function parse(setting: Setting, text: string): Parsed {
  const plain = text.trim();
  switch (setting.kind) {
    case 'boolean':
      return { value: plain === 'true' };
    case 'choice':
      return setting.choices.includes(plain)
        ? { value: plain }
        : { complaint: `One of ${setting.choices.join(', ')}.` };
    case 'words': {
      const words = pieces(plain);
      const wrong = words.find((word) => !setting.choices.includes(word));
      return wrong === undefined ? { value: words } : { complaint: `There is no ${wrong}.` };
    }
    case 'numbers': {
      const words = pieces(plain);
      const [least, most] = setting.counts;
      if (words.length < least || words.length > most)
        return { complaint: `${least} to ${most} numbers, separated by commas.` };
      const values: number[] = [];
      for (const word of words) {
        const one = number(setting, word);
        if (one.complaint !== undefined) return one;
        values.push(one.value as number);
      }
      return { value: values };
    }
    case 'text':
      if (setting.longest !== undefined && plain.length > setting.longest)
        return { complaint: `At most ${count(setting.longest)} letters.` };
      return plain === '' && !setting.nullable
        ? { complaint: 'Something, please.' }
        : { value: plain };
    case 'number':
      if (plain === '' && setting.nullable) return { value: null };
      if (setting.pattern?.test(plain)) return { value: plain };
      return number(setting, plain);
  }
}

function pieces(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

function number(setting: Setting, text: string): Parsed {
  const plain = setting.kind === 'numbers' ? text : text.replaceAll(/[,_\s]/g, '');
  const value = plain === '' ? NaN : Number(plain);
  if (Number.isNaN(value)) return { complaint: 'Not a number.' };
  if (setting.whole && !Number.isInteger(value)) return { complaint: 'A whole number, please.' };
  const { min, max, aboveMin, belowMax } = setting;
  const low = min !== null && (aboveMin ? value <= min : value < min);
  const high = max !== null && (belowMax ? value >= max : value > max);
  if (low || high) return { complaint: `${range(setting)}.` };
  return { value };
}

/** `From 16 to 65,536` */
export function range({ min, max, aboveMin, belowMax }: Setting): string {
  const low = min === null ? '' : `${aboveMin ? 'above' : 'from'} ${bound(min)}`;
  const high = max === null ? '' : `${belowMax ? 'below' : low ? 'to' : 'up to'} ${bound(max)}`;
  const text = [low, high].filter(Boolean).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A bound of a slider, without an exponent while it is readable. */
export function bound(value: number): string {
  return Math.abs(value) >= 1 || value === 0
    ? value.toLocaleString('en', { maximumFractionDigits: 4 })
    : value.toFixed(10).replace(/0+$/, '');
}

/** Whether a slider makes sense: there are two bounds, and numbers between them. */
export function hasSlider({ kind, min, max }: Setting): boolean {
  return kind === 'number' && min !== null && max !== null && max > min;
}

/** Where a slider stands, from 0 to 1. */
export function position(setting: Setting, value: Value | undefined): number {
  const low = setting.min ?? 0;
  const high = setting.max ?? 1;
  const plain = typeof value === 'string' ? Number(numberOf(value)) : value;
  if (typeof plain !== 'number' || Number.isNaN(plain)) return 0;
  const share = isLog(setting)
    ? Math.log(Math.max(plain, low) / low) / Math.log(high / low)
    : (plain - low) / (high - low);
  return Math.min(1, Math.max(0, share));
}

/** The value at a place of the slider, on its steps. */
export function valueAt(setting: Setting, share: number): number {
  const low = setting.min ?? 0;
  const high = setting.max ?? 1;
  if (share <= 0) return low;
  if (share >= 1) return high;
  const log = isLog(setting);
  const exact = log ? low * (high / low) ** share : low + share * (high - low);
  const step = setting.step ?? (setting.whole ? 1 : null);
  // A step that is right in the thousands is too coarse further down a logarithmic scale.
  const fitting = step !== null && (!log || exact >= 20 * step) ? step : null;
  const round =
    fitting === null ? Number(exact.toPrecision(2)) : Math.round(exact / fitting) * fitting;
  const value = Number((setting.whole ? Math.round(round) : round).toPrecision(12));
  return Math.min(high, Math.max(low, value));
}

/**
 * Where a slider of so many notches goes when it is moved to one: a notch may be less than a step,
 * and then the next notch that means another value is taken, or keys would not move it.
 */
export function slide(setting: Setting, from: Value, notch: number, notches: number): number {
  const before = position(setting, from) * notches;
  const direction = notch < before ? -1 : 1;
  for (let at = notch; at >= 0 && at <= notches; at += direction) {
    const value = valueAt(setting, at / notches);
    if (value !== from) return value;
  }
  return valueAt(setting, notch / notches);
}

function isLog({ log, min }: Setting): boolean {
  return log && min !== null && min > 0;
}

/** Whether two values are the same. */
export function same(a: Value | undefined, b: Value | undefined): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** The value at a path of a configuration. */
export function at(config: unknown, path: string): Value | undefined {
  let node: unknown = config;
  for (const key of path.split('.')) {
    if (node === null || typeof node !== 'object') return undefined;
    node = (node as Record<string, unknown>)[key];
  }
  return node as Value | undefined;
}

/** Values by path as a configuration, section by section. */
export function nest(values: Iterable<readonly [path: string, value: Value]>): Nested {
  const config: Nested = {};
  for (const [path, value] of values) {
    const keys = path.split('.');
    const last = keys.pop() as string;
    let node = config;
    for (const key of keys) node = (node[key] ??= {}) as Nested;
    node[last] = value;
  }
  return config;
}

export interface Nested {
  [key: string]: Value | Nested;
}
