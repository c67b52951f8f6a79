/** All settings of the next run beside the three in sight: as text, at their preset until changed. */
import { isSchedule } from '$lib/settings/schedule';
import { api, asProblem } from '$lib/api/client';
import type { Problem } from '$lib/api/types';
import { type Knob, knobsOf, written } from '$lib/knobs';

import { parse } from './training-form.svelte';

export interface Preset {
  id: string;
  title: string;
  help: string;
  /** What it changes, by full path. */
  settings: Record<string, unknown>;
}

interface PresetSchema {
  id: string;
  title: string;
  description: string;
  for: { algo: string; env_id: string | null; changes: { path: string; new: unknown }[] }[];
}

/** These have fields of their own, or are none of a single run. */
const ELSEWHERE = new Set(['trainer.learning_rate', 'trainer.total_timesteps', 'seeds.seed_base']);

export class KnobFields {
  all = $state.raw<Knob[]>([]);
  presets = $state.raw<Preset[]>([]);
  /** The one that was chosen; none for the defaults. */
  preset = $state.raw<Preset | null>(null);
  /** What was typed, by full path; what is not in it is at its preset. */
  text = $state.raw<Record<string, string>>({});
  errors = $state.raw<Record<string, string>>({});
  problem = $state.raw<Problem | null>(null);
  knobs = $derived.by(() => this.all.filter(({ path }) => !ELSEWHERE.has(path)));
  changed = $derived.by(() => this.knobs.filter(({ path }) => path in this.text));

  #of = '';

  /** Reads what can be set for an algorithm on an environment; whether that is another than before. */
  async load(algorithm: string, envId: string): Promise<boolean> {
    const name = `${algorithm}:${envId}`;
    if (name === this.#of) return false;
    this.#of = name;
    try {
      const [schema, presets] = await Promise.all([
        api.get('/api/schemas/{name}', { path: { name } }),
        api.get('/api/schemas/{name}', { path: { name: 'presets' } }),
      ]);
      if (this.#of !== name) return false;
      this.all = knobsOf(schema);
      this.presets = presetsOf(presets, algorithm, envId);
      this.preset = this.presets.find(({ id }) => id === this.preset?.id) ?? null;
      const known = new Set(this.knobs.map(({ path }) => path));
      this.text = only(this.text, known);
      this.errors = only(this.errors, known);
      this.problem = null;
      return true;
    } catch (error) {
      this.#of = '';
      this.problem = asProblem(error);
      return false;
    }
  }

  /** What a setting is unless it is changed. */
  base(path: string): unknown {
    if (this.preset && path in this.preset.settings) return this.preset.settings[path];
    return this.all.find((knob) => knob.path === path)?.initial ?? null;
  }

  /** Takes what was typed; at its preset again when it is the same. */
  set(knob: Knob, text: string): void {
    const { [knob.path]: _, ...rest } = this.text;
    const { [knob.path]: __, ...errors } = this.errors;
    const same = text.trim() === '' || text === written(this.base(knob.path));
    this.text = same ? rest : { ...rest, [knob.path]: text };
    const complaint = same ? undefined : complaintOf(knob, text);
    this.errors = complaint ? { ...errors, [knob.path]: complaint } : errors;
  }

  /** Takes what was typed elsewhere, of the settings that there are. */
  take(typed: Record<string, string>): void {
    for (const knob of this.knobs) {
      const text = typed[knob.path];
      if (text !== undefined) this.set(knob, text);
    }
  }

  clear(): void {
    this.text = {};
    this.errors = {};
  }

  /** The changed settings as values; null when one is wrong. */
  read(): Record<string, unknown> | null {
    if (Object.keys(this.errors).length > 0) return null;
    return Object.fromEntries(
      this.changed.map((knob) => [knob.path, valueOf(knob, this.text[knob.path] ?? '')]),
    );
  }
}

function only(values: Record<string, string>, known: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([path]) => known.has(path)));
}

export function presetsOf(schema: unknown, algorithm: string, envId: string): Preset[] {
  const { presets = [] } = schema as { presets?: PresetSchema[] };
  return presets.flatMap(({ id, title, description, for: cases }) => {
    const own = cases.filter(({ algo }) => algo === algorithm);
    const fit = own.find(({ env_id }) => env_id === envId) ?? own.find(({ env_id }) => !env_id);
    if (!fit) return [];
    const settings = Object.fromEntries(fit.changes.map((change) => [change.path, change.new]));
    return [{ id, title, help: description, settings }];
  });
}

/** What is wrong with a text as the value of a setting. */
export function complaintOf(knob: Knob, text: string): string | undefined {
  if (knob.kind !== 'number' && knob.kind !== 'integer') return undefined;
  if (knob.nullable && text === 'none') return undefined;
  // A schedule, which the lab understands and checks.
  if (isSchedule(text)) return undefined;
  const value = parse(text);
  if (Number.isNaN(value)) return 'Not a number.';
  if (knob.kind === 'integer' && !Number.isInteger(value)) return 'A whole number, please.';
  const { low, high } = knob.bounds ?? { low: -Infinity, high: Infinity };
  return value < low || value > high ? `From ${written(low)} to ${written(high)}.` : undefined;
}

export function valueOf(knob: Knob, text: string): unknown {
  switch (knob.kind) {
    case 'number':
    case 'integer':
      if (text === 'none') return null;
      return isSchedule(text) ? text : parse(text);
    case 'boolean':
      return text === 'on';
    case 'choice':
      return text;
    case 'text':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return text;
      }
  }
}
