/**
 * Something that is loaded once and then follows the live feed. Loading begins when the stream is
 * there, so that nothing is missed between them; what the stream tells while it goes on is heard
 * after it. A later snapshot means that the stream was away: all is loaded again.
 */
import { asProblem } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { FeedMessage, Problem } from '$lib/api/types';

export interface Source<T> {
  ask: () => Promise<T>;
  /** Replaces what there was by what was loaded. */
  take: (answer: T) => void;
  /** Adds what a message tells, if it is about this. */
  hear: (message: FeedMessage) => void;
}

export class Followed<T> {
  /** Whether there is anything to show; set from outside where something came before any load. */
  loaded = $state(false);
  problem = $state.raw<Problem | null>(null);

  /** Messages that came during a load; null when none is under way. */
  #held: FeedMessage[] | null = null;

  constructor(readonly source: Source<T>) {}

  /** Loads and listens until the returned function is called. */
  start(): () => void {
    const stop = live.listen((message) => this.receive(message));
    let stopped = false;
    void live.ready().then(() => {
      if (!stopped) void this.load();
    });
    return () => {
      stopped = true;
      stop();
    };
  }

  async load(): Promise<void> {
    if (this.#held) return;
    const held: FeedMessage[] = (this.#held = []);
    try {
      this.source.take(await this.source.ask());
      this.problem = null;
      this.loaded = true;
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.#held = null;
    }
    if (this.loaded) for (const message of held) this.source.hear(message);
  }

  receive(message: FeedMessage): void {
    if (message.type === 'Snapshot') {
      if (this.loaded || this.problem) void this.load();
    } else if (this.#held) this.#held.push(message);
    else if (this.loaded) this.source.hear(message);
  }
}
