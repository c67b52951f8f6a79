/**
 * Whether what is shown of a run is still so. A trainer may have fallen silent, and the lab itself
 * may be away: then the last word on a run says `fresh` for ever.
 */
import { live } from '$lib/api/live.svelte';
import type { Run } from '$lib/api/types';
import { hasEnded } from '$lib/merge';

type Heard = Pick<Run, 'state' | 'health'>;

/** Whether the figures of a run that has not ended are old ones. */
export function isStale(run: Heard): boolean {
  return !hasEnded(run) && (live.connection === 'reconnecting' || run.health !== 'fresh');
}

/** How recent the signs of life are, in a word. */
export function healthOf(run: Heard): Run['health'] {
  return run.health === 'fresh' && isStale(run) ? 'stale' : run.health;
}

/**
 * When the trainer was last heard of, in milliseconds since 1970. True at the moment at which the
 * run came, so it is to be derived from the run and counted on from there.
 */
export function heardAt(run: Pick<Run, 'heartbeat_age_ms'>): number | null {
  return run.heartbeat_age_ms === null ? null : Date.now() - run.heartbeat_age_ms;
}
