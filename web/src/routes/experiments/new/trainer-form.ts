/**
 * A trainer that `lab.json` names, as a form: its arguments become settings like those of our own
 * algorithms, so that they have the same fields, sliders and complaints.
 */
import type { Trainer, TrainerArgument } from '$lib/api/types';
import { type Form, type Setting, type Value, parse } from '$lib/settings/schema';

const GROUP = 'Arguments';

/** Bounds that are further apart than this are walked by factors. */
const LOG_FROM = 1000;

/** Before the names of arguments in an address, where `env` and `name` mean something else. */
const PREFIX = 'arg.';

export function formOf(trainer: Trainer): Form {
  const settings = trainer.arguments.map(settingOf);
  const groups = settings.length > 0 ? [{ name: GROUP, settings }] : [];
  return { title: trainer.title, groups, settings, presets: [] };
}

function settingOf(argument: TrainerArgument): Setting {
  const { name, type, minimum, maximum, max_length, required } = argument;
  const optional = !required && argument.default === null;
  const isNumber = type === 'integer' || type === 'number';
  return {
    path: name,
    group: GROUP,
    title: titleOf(name),
    help: argument.help,
    kind: isNumber ? 'number' : type === 'string' ? 'text' : type,
    whole: type === 'integer',
    nullable: isNumber ? optional : !required,
    pattern: null,
    min: minimum,
    max: maximum,
    aboveMin: false,
    belowMax: false,
    step: type === 'integer' ? 1 : null,
    log: minimum !== null && maximum !== null && minimum > 0 && maximum / minimum >= LOG_FROM,
    unit: '',
    // What need not be said has a line that says nothing.
    choices: type === 'choice' && optional ? ['', ...argument.choices] : argument.choices,
    counts: [0, 0],
    ...(max_length === null ? {} : { longest: max_length }),
    default: optional ? nothing(type) : ((argument.default ?? null) as Value),
    tunable: null,
  };
}

/** What stands in a field of which nothing is said; it is not sent. */
function nothing(type: TrainerArgument['type']): Value {
  if (type === 'boolean') return false;
  return type === 'string' || type === 'choice' ? '' : null;
}

/** `learning_rate` as `Learning rate` */
export function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The settings that are wrong, or must be given and are not. */
export function complaintsOf(form: Form, text: (setting: Setting) => string): Setting[] {
  return form.settings.filter((setting) => parse(setting, text(setting)).complaint !== undefined);
}

/** What was typed as parts of an address. */
export function inAddress(typed: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(typed).map(([name, text]) => [PREFIX + name, text]));
}

/** What an address says of a setting. */
export function fromAddress(search: URLSearchParams, { path }: Setting): string | null {
  return search.get(PREFIX + path);
}

/** The form of a run that a named trainer has made, as parts of an address; none for others. */
export function againOf(config: Record<string, unknown> | null): Record<string, string> | null {
  const { trainer_id: trainer, env_id: env, arguments: told } = config ?? {};
  if (typeof trainer !== 'string' || typeof env !== 'string') return null;
  const texts = Object.entries((told ?? {}) as Record<string, Value>).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return { trainer, env, ...inAddress(Object.fromEntries(texts)) };
}

/** What is typed for the number that a run is told, or what is wrong with it; nothing is fine. */
export function parseSeed(text: string): { seed?: number; complaint?: string } {
  const plain = text.trim();
  if (plain === '') return {};
  const seed = Number(plain);
  return /^\d+$/.test(plain) && Number.isSafeInteger(seed)
    ? { seed }
    : { complaint: 'A whole number from 0, please.' };
}

/** What `lab.json` needs, to begin from. */
export const EXAMPLE = JSON.stringify(
  {
    trainers: {
      cem: {
        title: 'Cross entropy',
        env_id: 'CartPole-v1',
        command: ['python', 'train.py'],
        folder: '/home/me/trainers',
        arguments: {
          steps: { type: 'integer', default: 30000, minimum: 1000, maximum: 1000000 },
          learning_rate: { type: 'number', default: 0.001, minimum: 0, maximum: 1 },
        },
      },
    },
  },
  null,
  2,
);
