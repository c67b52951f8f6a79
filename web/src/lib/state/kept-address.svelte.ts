/** What is typed into a form, in the address of its page: so it can be shared, and Back finds it. */
import { afterNavigate } from '$app/navigation';
import { page } from '$app/state';
import { type Parts, note } from '$lib/note';

/** The address is written when nothing was typed for so long. */
const SETTLE_MS = 250;

/**
 * Keeps what `read` says in the address from the first change on, until the form is gone. A form
 * begins as its address has it; what is as it is by itself is null and left out.
 */
export function keepInAddress(read: () => Parts): void {
  let said: string | undefined;
  $effect(() => {
    const parts = read();
    const before = said;
    said = JSON.stringify(parts);
    if (before === undefined || before === said) return;
    let isOld = false;
    const timer = setTimeout(() => note(() => (isOld ? {} : parts)), SETTLE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  });
}

/** Calls `follow` when somebody goes back or forth on this page: a form is filled in anew. */
export function onReturn(follow: (at: URLSearchParams) => void): void {
  afterNavigate(({ type, from, to }) => {
    if (type !== 'popstate' || from?.url.pathname !== to?.url.pathname) return;
    follow(page.url.searchParams);
  });
}

/** What was typed, unless it is what stands there anyway. */
export function unless(usual: string, text: string): string | null {
  return text === usual ? null : text;
}
