/** What a policy thought of the actions, for people. */
import type { Environment, EpisodeXray, XrayStep } from '$lib/api/types';

type Kind = EpisodeXray['kind'] | undefined;

/** The actions to show: all of a short list; of a long one the best, and what was done. */
export function mostWorthy(
  n: number,
  most: number,
  thought: XrayStep | undefined,
  action: unknown,
): number[] {
  const all = Array.from({ length: n }, (_, index) => index);
  if (n <= most) return all;
  const done = typeof action === 'number' ? [action] : [];
  if (!thought) return done;
  const worth = (index: number) => thought.actions[index] ?? -Infinity;
  const best = all.sort((a, b) => worth(b) - worth(a)).slice(0, most - 1);
  return [...best, ...done.filter((index) => !best.includes(index))];
}

/** Part of the longest bar: a probability, or where a value lies between the least and the best. */
export function share(thought: XrayStep, kind: Kind, index: number): number {
  const value = thought.actions[index] ?? null;
  if (value === null) return 0;
  if (kind !== 'values') return value;
  const known = thought.actions.filter((other) => other !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return high === low ? 1 : (value - low) / (high - low);
}

/** Chosen against best, in a sentence. */
export function verdictOf(
  thought: XrayStep | undefined,
  kind: Kind,
  action: unknown,
  env: Environment,
): string {
  if (!thought) return '';
  const entropy = thought.entropy === null ? '' : ` Entropy ${thought.entropy.toFixed(2)} nat.`;
  if (thought.best === null) return entropy.trim();
  const word = kind === 'values' ? 'most valuable' : 'most likely';
  if (action === thought.best) return `Chose the ${word} action.${entropy}`;
  const best = env.action_names[thought.best] ?? String(thought.best);
  return `Chose another than the ${word}, ${best}.${entropy}`;
}

/** The values of some steps as a path in a box, and where the one at `step` is. */
export function valuePath(
  thoughts: ReadonlyMap<number, XrayStep>,
  step: number,
  width: number,
  height: number,
): { path: string; at: [number, number] | null } {
  const known = [...thoughts.values()].filter(({ value }) => value !== null);
  if (known.length === 0) return { path: '', at: null };
  const values = known.map(({ value }) => value as number);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [known[0]?.step ?? 0, known.at(-1)?.step ?? 0];
  const x = (step: number) => (last === first ? 0 : ((step - first) / (last - first)) * width);
  const y = (value: number) =>
    high === low ? height / 2 : 4 + ((high - value) / (high - low)) * (height - 8);
  const point = (thought: XrayStep): [number, number] => [x(thought.step), y(thought.value ?? 0)];
  const path = known
    .map(
      (thought, index) =>
        `${index ? 'L' : 'M'}${point(thought)
          .map((n) => n.toFixed(1))
          .join(' ')}`,
    )
    .join('');
  const here = thoughts.get(step);
  return { path, at: here && here.value !== null ? point(here) : null };
}
