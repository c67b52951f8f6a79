/**
 * Where one was in a list, for who comes back to it. SvelteKit keeps how far the window was scrolled,
 * which is no use before the list is there; nor does it know of boxes that scroll by themselves and
 * of pages of a list that were asked for.
 *
 *     export const snapshot = keepPlace({ rows: () => list.value?.length ?? null, … });
 */
import { tick, untrack } from 'svelte';
import { afterNavigate } from '$app/navigation';

export interface Place {
  rows: number;
  /** How far the window and the box were scrolled. */
  window: number;
  box: number;
}

interface List {
  /** How many are there; none before the first page. */
  rows: () => number | null;
  /** Whether there are more, and they can be had. */
  hasMore: () => boolean;
  /** Whether they are on the way. */
  loading: () => boolean;
  /** Asks for them, where they do not come by themselves. */
  more?: () => unknown;
  /** Where it scrolls, if not in the window. */
  box?: () => HTMLElement | undefined;
}

/** To be called by a page while it is made, and exported as its `snapshot`. */
export function keepPlace({ rows, hasMore, loading, more, box }: List) {
  let wanted = $state.raw<Place | null>(null);
  /** Where the window was when this began: who scrolls meanwhile is left where they are. */
  let begun = 0;

  // Another list of the same page begins where it begins; a page that is opened restores first.
  afterNavigate(({ type }) => {
    if (type !== 'enter') wanted = null;
  });

  $effect(() => {
    const n = rows();
    if (!wanted || n === null) return;
    if (n < wanted.rows && hasMore()) {
      if (!loading()) untrack(() => more?.());
      return;
    }
    const place = wanted;
    wanted = null;
    void tick().then(() => {
      if (window.scrollY === begun) window.scrollTo({ top: place.window, behavior: 'instant' });
      box?.()?.scrollTo({ top: place.box, behavior: 'instant' });
    });
  });

  return {
    // Who leaves on the way there wants to be there still.
    capture: (): Place =>
      wanted ?? { rows: rows() ?? 0, window: window.scrollY, box: box?.()?.scrollTop ?? 0 },
    restore(place: Place): void {
      begun = window.scrollY;
      wanted = place;
    },
  };
}
