/** Seeds of several runs, counting up from the first. */

const MOST_RUNS = 100;
const SHOWN = 3;

function whole(text: string): number {
  const plain = text.replaceAll(/[,_\s]/g, '');
  return /^\d+$/.test(plain) ? Number(plain) : NaN;
}

/** What is wrong with the two fields, if anything. */
export function seedTrouble(first: string, count: string): string | undefined {
  const n = whole(count);
  if (!(n >= 1 && n <= MOST_RUNS)) return `1 to ${MOST_RUNS} runs at once.`;
  if (!Number.isSafeInteger(whole(first))) return 'A seed is a whole number from 0.';
  return undefined;
}

/** `Seeds 42, 43, 44, … 51: a group` */
export function seedList(first: string, count: string): string {
  const { seed_base, count: n } = seedRange(first, count);
  if (n === 1) return `Seed ${seed_base}`;
  const seeds = Array.from({ length: Math.min(n, SHOWN) }, (_, i) => seed_base + i).join(', ');
  const rest =
    n > SHOWN + 1 ? `, … ${seed_base + n - 1}` : n > SHOWN ? `, ${seed_base + n - 1}` : '';
  return `Seeds ${seeds}${rest}, as a group`;
}

export function seedRange(first: string, count: string): { seed_base: number; count: number } {
  return { seed_base: whole(first), count: whole(count) };
}
