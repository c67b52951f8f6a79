/** How much is compared at once. */
import { urls } from './urls';

/** The curves of each are asked for by themselves, and shown side by side in tables. */
export const MOST_RUNS = 50;

/** More lines than this cannot be told apart, and there are as many colours. */
export const MOST_LINES = 10;

/** Where these are compared, or the first of them where they are too many. */
export function comparison(ids: readonly string[]): string {
  return urls.compare({ runs: ids.slice(0, MOST_RUNS).join(',') });
}
