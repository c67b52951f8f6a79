/** Settings as sliders and fields, read from the JSON Schema of a configuration. */
import { count } from '$lib/format';

/** What the schema says of one setting; `x-` fields are for forms. */
interface Property {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  enum?: unknown[];
  'x-path'?: string;
  'x-group'?: string;
  'x-unit'?: string;
  'x-step'?: number;
  'x-scale'?: string;
  'x-tunable'?: false | { minimum?: number; exclusiveMinimum?: number; maximum?: number };
}

export interface Bounds {
  low: number;
  high: number;
}

export interface Knob {
  /** The full path, as `trainer.learning_rate`. */
  path: string;
  title: string;
  help: string;
  group: string;
  unit: string | null;
  kind: 'number' | 'integer' | 'boolean' | 'choice' | 'text';
  choices: string[];
  nullable: boolean;
  bounds: Bounds | null;
  /** The bounds while a run trains; none where it cannot be changed then. */
  tunable: Bounds | null;
  step: number | null;
  log: boolean;
  initial: unknown;
}

/** All settings of a schema, in its order. */
export function knobsOf(schema: unknown): Knob[] {
  const sections = (schema as { properties?: Record<string, unknown> }).properties ?? {};
  return Object.values(sections).flatMap((section) => {
    const inner = (section as { properties?: Record<string, Property> }).properties;
    return inner ? Object.values(inner).flatMap((property) => knobOf(property) ?? []) : [];
  });
}

function knobOf(property: Property): Knob | null {
  const path = property['x-path'];
  if (!path) return null;
  const types = [property.type ?? 'string'].flat();
  const bounds = boundsOf(property.minimum, property.maximum);
  const tunable = property['x-tunable'] || null;
  return {
    path,
    title: property.title ?? path,
    help: property.description ?? '',
    group: property['x-group'] ?? '',
    unit: property['x-unit'] ?? null,
    kind: kindOf(property, types, bounds),
    choices: (property.enum ?? []).map(String),
    nullable: types.includes('null'),
    bounds,
    // Nothing lies above an open bound that the setting itself does not allow.
    tunable:
      tunable &&
      boundsOf(
        Math.max(
          tunable.minimum ?? tunable.exclusiveMinimum ?? -Infinity,
          bounds?.low ?? -Infinity,
        ),
        tunable.maximum,
      ),
    step: property['x-step'] ?? null,
    log: property['x-scale'] === 'log',
    initial: property.default ?? null,
  };
}

function kindOf(property: Property, types: string[], bounds: Bounds | null): Knob['kind'] {
  if (property.enum) return 'choice';
  if (types.includes('boolean')) return 'boolean';
  if (types.includes('integer')) return 'integer';
  return types.includes('number') && bounds ? 'number' : 'text';
}

function boundsOf(low: number | undefined, high: number | undefined): Bounds | null {
  return low === undefined || high === undefined || !Number.isFinite(low) ? null : { low, high };
}

/** Where a value is on its slider, 0 to 1. */
export function positionOf(value: number, { low, high }: Bounds, log: boolean): number {
  const share =
    log && low > 0 ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}

/** The value at a place of a slider: on its steps, or with two figures on a logarithmic one. */
export function valueAt(
  position: number,
  bounds: Bounds,
  knob: Pick<Knob, 'log' | 'step' | 'kind'>,
) {
  const { low, high } = bounds;
  const isLog = knob.log && low > 0;
  const exact = isLog ? low * (high / low) ** position : low + position * (high - low);
  const rounded = isLog
    ? Number(exact.toPrecision(2))
    : knob.step
      ? Number((Math.round(exact / knob.step) * knob.step).toPrecision(10))
      : Number(exact.toPrecision(3));
  const whole = knob.kind === 'integer' ? Math.round(rounded) : rounded;
  return Math.min(high, Math.max(low, whole));
}

/** A value as it is written beside its slider. */
export function written(value: unknown): string {
  if (typeof value === 'number') return Math.abs(value) >= 1000 ? count(value) : plain(value);
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'string' ? unhashed(value) : JSON.stringify(value);
}

/** A hash is known by its beginning; anything else is as it is. */
export function unhashed(text: string): string {
  return /^[0-9a-f]{64}$/.test(text) ? `${text.slice(0, 12)}…` : text;
}

/** Without an exponent while that is readable. */
function plain(value: number): string {
  const text = String(value);
  return text.includes('e-') && Math.abs(value) >= 1e-8
    ? value.toFixed(8).replace(/0+$/, '')
    : text;
}

/** The setting at a full path of a nested configuration. */
export function settingIn(config: Record<string, unknown>, path: string): unknown {
  let at: unknown = config;
  for (const part of path.split('.')) {
    if (at === null || typeof at !== 'object') return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

/** Nested objects as dotted keys; lists and plain values as they are written. */
export function flatten(
  value: Record<string, unknown>,
  prefix = '',
): [key: string, text: string][] {
  return Object.entries(value).flatMap(([key, inner]): [string, string][] => {
    if (inner !== null && typeof inner === 'object' && !Array.isArray(inner)) {
      return flatten(inner as Record<string, unknown>, `${prefix}${key}.`);
    }
    return [[prefix + key, typeof inner === 'string' ? inner : JSON.stringify(inner)]];
  });
}
