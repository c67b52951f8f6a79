/** Keeps a part of what is shown in the address, so that it can be shared and found again. */
import { goto } from '$app/navigation';
import { navigating, page } from '$app/state';

export type Parts = Record<string, string | null>;

/** Whether one is on the way to another page. */
export function isLeaving(): boolean {
  const { to } = navigating;
  return to !== null && to.url.pathname !== page.url.pathname;
}

/**
 * Changes parts of this page's query; what is null or empty is left out. No new step to go back.
 * Two changes of address at once are one too many, for the first is dropped: on the way to another
 * page nothing is noted, and what changes this page's address otherwise is waited for. Parts that
 * are a function are asked for when it is their turn.
 */
export function note(parts: Parts | (() => Parts)): void {
  if (isLeaving()) return;
  const { complete } = navigating;
  if (complete) {
    const again = () => note(parts);
    complete.then(again, again);
    return;
  }
  const url = new URL(page.url);
  for (const [name, value] of Object.entries(typeof parts === 'function' ? parts() : parts)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (url.search === page.url.search) return;
  void goto(url.pathname + url.search, { replaceState: true, keepFocus: true, noScroll: true });
}
