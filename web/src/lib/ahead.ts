/**
 * The code of all pages, fetched when a tab has nothing else to do: it can then go to any page while
 * the lab is away, or after it was upgraded, and say what is wrong.
 */
import { preloadCode } from '$app/navigation';
import { PAGES } from '$lib/pages';
import { urls } from '$lib/urls';

const SOME = 'x';
/** A page that waits for its first answers looks idle, and is not. */
const SETTLE_MS = 1_500;

/** An address of every page. */
export const EVERY_PAGE: readonly string[] = [
  ...PAGES.map(({ href }) => href),
  urls.login(),
  urls.run(SOME),
  urls.episode(SOME, 1),
  urls.game(SOME),
  urls.session(SOME),
  urls.newExperiment(),
  urls.experiment(SOME),
  urls.evaluation(SOME),
  urls.tournament(SOME),
  urls.model(SOME),
];

/** Fetches one page after the other, until the returned function is called. */
export function loadAhead(): () => void {
  let left = false;
  const idle = window.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 500));
  const next = (number: number) => {
    const page = EVERY_PAGE[number];
    if (left || page === undefined) return;
    const go = () => idle(() => next(number + 1));
    // What cannot be had now is fetched when somebody goes there.
    preloadCode(page).then(go, go);
  };
  const begin = setTimeout(() => idle(() => next(0)), SETTLE_MS);
  return () => {
    left = true;
    clearTimeout(begin);
  };
}
