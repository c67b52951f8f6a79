/** The form's fields as text, checked here first and then by the server. */
import { isSchedule as hasPrefix, numberOf } from '$lib/settings/schedule';
import type { ApiProblem } from '$lib/api/client';

export type FieldName = 'learning_rate' | 'total_timesteps' | 'seed';

/** What the fields say. */
export interface Numbers {
  learning_rate: number | string;
  total_timesteps: number;
  seed: number;
}

interface Rule {
  name: string;
  min: number;
  max: number;
  whole: boolean;
  range: string;
}

export const RULES: Record<FieldName, Rule> = {
  learning_rate: { name: 'Learning rate', min: 1e-6, max: 1, whole: false, range: '0.000001 to 1' },
  total_timesteps: {
    name: 'Total timesteps',
    min: 5_000,
    max: 1e9,
    whole: true,
    range: '5,000 to 1,000,000,000',
  },
  seed: {
    name: 'Seed',
    min: 0,
    max: 2 ** 53 - 1,
    whole: true,
    range: '0 to 9,007,199,254,740,991',
  },
};

/** `1,000,000`, `1_000_000`, `1e6` and `0.0003` are all numbers here. */
export function parse(text: string): number {
  const plain = text.replaceAll(/[,_\s]/g, '');
  return plain === '' ? NaN : Number(plain);
}

/** A learning rate may be a schedule: `lin_0.001` falls from there to nothing. */
function isSchedule(field: FieldName, text: string): boolean {
  return field === 'learning_rate' && hasPrefix(text);
}

/** What is wrong with a field's text, if anything. */
export function complaint(field: FieldName, text: string): string | undefined {
  const rule = RULES[field];
  const value = parse(isSchedule(field, text) ? numberOf(text) : text);
  if (Number.isNaN(value)) return 'Not a number.';
  if (rule.whole && !Number.isInteger(value)) return 'A whole number, please.';
  if (value < rule.min || value > rule.max) return `From ${rule.range}.`;
  return undefined;
}

export class TrainingForm {
  text = $state<Record<FieldName, string>>({
    learning_rate: '0.0003',
    total_timesteps: '1,000,000',
    seed: '42',
  });
  errors = $state.raw<Partial<Record<FieldName, string>>>({});

  /** What the fields were given, to know what was typed over. */
  #given: Record<FieldName, string> = { ...this.text };

  /** Checks one field, or forgets the server's word on it. */
  check(field: FieldName): void {
    this.errors = { ...this.errors, [field]: complaint(field, this.text[field]) };
  }

  /** Checks all; the values when all are right. */
  read(): Numbers | null {
    for (const field of Object.keys(RULES) as FieldName[]) this.check(field);
    return this.values();
  }

  /** The values when all are right, without a word where they are not. */
  values(): Numbers | null {
    const { learning_rate } = this.text;
    const fields = Object.keys(RULES) as FieldName[];
    if (fields.some((field) => complaint(field, this.text[field]))) return null;
    return {
      learning_rate: isSchedule('learning_rate', learning_rate)
        ? learning_rate.trim()
        : parse(learning_rate),
      total_timesteps: parse(this.text.total_timesteps),
      seed: parse(this.text.seed),
    };
  }

  /** What differs from what the fields were given. */
  typed(): Partial<Record<FieldName, string>> {
    const fields = Object.keys(RULES) as FieldName[];
    const changed = fields.filter((field) => this.text[field] !== this.#given[field]);
    return Object.fromEntries(changed.map((field) => [field, this.text[field]]));
  }

  /** Takes what was typed elsewhere. */
  take(typed: Record<string, string>): void {
    for (const field of Object.keys(RULES) as FieldName[]) {
      const text = typed[field];
      if (text === undefined) continue;
      this.text[field] = text;
      this.check(field);
    }
  }

  /** Puts every field back to what it was given. */
  clear(): void {
    this.text = { ...this.#given };
    this.errors = {};
  }

  /** Takes values of a preset, or of an algorithm, where nobody has typed others. */
  follow(values: Partial<Record<FieldName, unknown>>, force = false): void {
    for (const [field, value] of Object.entries(values) as [FieldName, unknown][]) {
      if (typeof value !== 'number' && typeof value !== 'string') continue;
      if (!force && this.text[field] !== this.#given[field]) continue;
      this.text[field] = field === 'learning_rate' ? String(value) : value.toLocaleString('en');
      this.#given[field] = this.text[field];
      this.check(field);
    }
  }

  /** Puts the server's complaints at their fields; true when it found a place for any. */
  refuse(problem: ApiProblem): boolean {
    const found: Partial<Record<FieldName, string>> = {};
    for (const field of Object.keys(RULES) as FieldName[]) {
      const detail = problem.at(`/${field}`);
      if (detail) found[field] = detail;
    }
    this.errors = found;
    return Object.keys(found).length > 0;
  }
}
