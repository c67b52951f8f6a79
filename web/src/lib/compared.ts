/** How much is compared at once. */

/** The curves of each are asked for by themselves, and shown side by side in tables. */
export const MOST_RUNS = 50;

/** More lines than this cannot be told apart, and there are as many colours. */
export const MOST_LINES = 10;
