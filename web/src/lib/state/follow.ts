/** Asking again when the live feed tells of something, and not more often than it is worth. */
import { live } from '$lib/api/live.svelte';
import type { FeedMessage } from '$lib/api/types';
import { hasEnded } from '$lib/merge';

const LEAST_MS = 3_000;

/** Calls `again` soon after every message that matters, until the returned function is called. */
export function follow(matters: (message: FeedMessage) => boolean, again: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  const stop = live.listen((message) => {
    if (timer !== undefined || !matters(message)) return;
    const wait = Math.max(200, last + LEAST_MS - Date.now());
    timer = setTimeout(() => {
      timer = undefined;
      last = Date.now();
      again();
    }, wait);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** Whether a policy was measured or a match is over, so that boards look different. */
export function isMeasured(message: FeedMessage): boolean {
  if (message.type === 'EvalResult' || message.type === 'Snapshot') return true;
  return message.type === 'RunProgress' && message.run.kind === 'eval' && hasEnded(message.run);
}
