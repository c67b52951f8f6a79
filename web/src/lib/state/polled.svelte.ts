/**
 * An answer of the lab that is asked for again and again while somebody looks: the last good one is
 * kept when a request fails, with its age and what went wrong.
 */
import { untrack } from 'svelte';
import { asProblem } from '$lib/api/client';
import type { Problem } from '$lib/api/types';

import { clock } from './clock.svelte';

export class Polled<T> {
  value = $state.raw<T | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** When the value came, in milliseconds since 1970. */
  at = $state<number | null>(null);
  loading = $state(false);
  paused = $state(false);
  /** The last request failed, or was so long ago that the figures are old. */
  stale = $derived.by(
    () => this.at !== null && (this.problem !== null || clock.now - this.at > 3 * this.everyMs),
  );

  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;
  #running = false;

  constructor(
    readonly ask: () => Promise<T>,
    readonly everyMs: number,
  ) {}

  /** Asks now and from then on, but not while the tab is hidden, until the returned function is called. */
  start(): () => void {
    const look = () => {
      if (!document.hidden && !this.paused) void this.refresh();
    };
    document.addEventListener('visibilitychange', look);
    this.#running = true;
    untrack(() => void this.refresh());
    return () => {
      this.#running = false;
      this.#turn += 1;
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', look);
    };
  }

  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const turn = (this.#turn += 1);
    this.loading = true;
    try {
      const value = await this.ask();
      if (turn !== this.#turn) return;
      this.value = value;
      this.at = Date.now();
      this.problem = null;
    } catch (error) {
      if (turn === this.#turn) this.problem = asProblem(error);
    } finally {
      if (turn === this.#turn) {
        this.loading = false;
        this.#later();
      }
    }
  }

  pause(): void {
    this.paused = true;
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.paused = false;
    void this.refresh();
  }

  #later(): void {
    if (!this.#running || this.paused || document.hidden) return;
    this.#timer = setTimeout(() => void this.refresh(), this.everyMs);
  }
}
