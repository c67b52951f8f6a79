/** How an episode went, in words. */
import type { Environment, HumanEpisode } from '$lib/api/types';
import { count, signed } from '$lib/format';

type Ended = Pick<HumanEpisode, 'total_reward' | 'terminated' | 'truncated'>;

/** What ended it. */
export function ending({ terminated, truncated }: Ended, env: Environment): string {
  if (terminated) {
    const words = env.controls?.ending || 'the task has ended';
    return words.charAt(0).toUpperCase() + words.slice(1);
  }
  return truncated ? `The time limit of ${count(env.max_steps)} steps` : 'Given up';
}

/** The return beside the threshold. */
export function compared({ total_reward }: Ended, { threshold }: Environment): string {
  if (threshold === null) return 'It has no threshold.';
  const short = threshold - total_reward;
  return short <= 0
    ? `The threshold of ${plain(threshold)} is reached.`
    : `${plain(short)} below the threshold of ${plain(threshold)}.`;
}

function plain(value: number): string {
  return signed(value, Number.isInteger(value) ? 0 : 1).replace('+', '');
}

/** A seed that was typed: a whole number, or none for any. Undefined when it is neither. */
export function parseSeed(text: string): number | null | undefined {
  const plain = text.trim();
  if (plain === '') return null;
  if (!/^\d+$/.test(plain)) return undefined;
  const seed = Number(plain);
  return Number.isSafeInteger(seed) ? seed : undefined;
}
