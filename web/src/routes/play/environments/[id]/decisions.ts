/** The actions that a person may choose from: in groups, by what is typed, with what is known of each. */
import type { Environment } from '$lib/api/types';

export interface Decision {
  action: number;
  name: string;
  /** What is seen of its object: `travel time 0.25, fuel 0.41`. */
  about: string;
}

export interface DecisionGroup {
  title: string;
  decisions: Decision[];
}

/** What kinds of things there are to do, by how their names begin or what they speak of. */
const KINDS: readonly (readonly [title: string, pattern: RegExp])[] = [
  ['Move', /^(travel|hold|emergency burn|dock)/],
  ['Look', /(scan|listen)$/],
  ['Choose', /^select/],
  ['Mine', /^(mine|stabilise|refine)/],
  ['Mend', /^(cool|repair|patch|overhaul)/],
  ['Sell', /^sell/],
  ['Buy', /^buy/],
  ['Throw away', /^jettison/],
  ['End', /^cash out/],
];
const OTHERS = 'Do';

/** Kinds of places: those that a place is not of are 0. */
const FLAGS: ReadonlySet<string> = new Set(['station', 'cluster', 'hazard']);

/** So much is said of an object. */
const MOST_ABOUT = 4;

type Named = Pick<Environment, 'action_names' | 'observation_names'>;

/** The legal actions in groups, each in the order of its numbers. */
export function decisionsOf(
  env: Named,
  legal: readonly number[],
  observation: readonly number[],
): DecisionGroup[] {
  const groups = new Map(
    [...KINDS.map(([title]) => title), OTHERS].map((title) => [title, [] as Decision[]]),
  );
  for (const action of legal) {
    const name = env.action_names[action] ?? String(action);
    const title = KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? OTHERS;
    groups
      .get(title)
      ?.push({ action, name, about: aboutOf(name, env.observation_names, observation) });
  }
  return [...groups].flatMap(([title, decisions]) =>
    decisions.length > 0 ? [{ title, decisions }] : [],
  );
}

/** Those in which every word that was typed is found, in the name or the title of the group. */
export function found(groups: readonly DecisionGroup[], typed: string): DecisionGroup[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return groups.flatMap(({ title, decisions }) => {
    const fits = decisions.filter(({ name }) => {
      const text = `${title} ${name}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return fits.length > 0 ? [{ title, decisions: fits }] : [];
  });
}

/**
 * What is seen of the object of an action. Numbers are of an object when their names begin with it
 * (`neighbour 3, fuel`) or end with it (`price of iron`).
 */
function aboutOf(name: string, names: readonly string[], seen: readonly number[]): string {
  const told: { word: string; value: number }[] = [];
  names.forEach((full, index) => {
    const value = seen[index] ?? 0;
    const word = wordOf(full, name);
    if (word && word !== 'valid' && word !== 'selected' && value !== 0) told.push({ word, value });
  });
  const most = [...told].sort((a, b) => b.value - a.value).slice(0, MOST_ABOUT);
  return told
    .filter((one) => most.includes(one))
    .map(({ word, value }) => (FLAGS.has(word) ? word : `${word} ${value.toFixed(2)}`))
    .join(', ');
}

function wordOf(full: string, name: string): string | undefined {
  const [object, word] = full.split(', ');
  if (object && word) return name.endsWith(` ${object}`) ? word : undefined;
  const [what, of] = full.split(' of ');
  return what && of && /^(sell|jettison)/.test(name) && name.includes(of) ? what : undefined;
}

export interface Reading {
  name: string;
  /** From -1 to 1, mostly from 0. */
  value: number;
}

/** The numbers of the player itself, and those of goods: what is not of a place. */
export function readingsOf(
  { observation_names: names }: Pick<Environment, 'observation_names'>,
  seen: readonly number[],
): { own: Reading[]; goods: Reading[] } {
  const all = names.map((name, index) => ({ name, value: seen[index] ?? 0 }));
  const plain = all.filter(({ name }) => !name.includes(', ') && !name.startsWith('unused'));
  return {
    own: plain.filter(({ name }) => !name.includes(' of ')),
    goods: plain.filter(({ name }) => name.includes(' of ')),
  };
}
