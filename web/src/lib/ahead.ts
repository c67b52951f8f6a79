/**
 * The code of all pages, fetched when somebody is there and the tab has nothing else to do: it can then
 * go to any page while the lab is away, or after it was upgraded, and say what is wrong. A page that
 * is opened and looked at costs no more than itself meanwhile.
 */
import { preloadCode } from '$app/navigation';
import { PAGES } from '$lib/pages';
import { urls } from '$lib/urls';

const SOME = 'x';
/** Somebody who reads without a move is there as well. */
const WAIT_MS = 30_000;
/** What was pressed asks for something first; a tab that waits for the answer looks idle, and is not. */
const SETTLE_MS = 1_500;

/**
 * The first signs of a person. Scrolling is seen by its wheel, finger or key: lists also scroll by
 * themselves.
 */
export const SIGNS = ['pointerdown', 'keydown', 'touchstart', 'wheel'] as const;

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

/** Fetches one page after the other once somebody is there, until the returned function is called. */
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
  const begin = () => idle(() => next(0));
  const stop = whenThere(window, begin);
  return () => {
    left = true;
    stop();
  };
}

/**
 * Calls back once, some time after the first sign of a person, or after long enough without one,
 * unless the returned function was called before.
 */
export function whenThere(target: EventTarget, then: () => void): () => void {
  const listening = new AbortController();
  let timer = setTimeout(heard, WAIT_MS);
  function heard() {
    listening.abort();
    clearTimeout(timer);
    timer = setTimeout(then, SETTLE_MS);
  }
  // Before whoever stops them on their way; none of them is held up by this.
  const how = { capture: true, passive: true, signal: listening.signal };
  for (const sign of SIGNS) target.addEventListener(sign, heard, how);
  return () => {
    listening.abort();
    clearTimeout(timer);
  };
}
