/** What a run used of the machine: loaded when somebody looks, and followed while they do. */
import { untrack } from 'svelte';
import { api, asProblem } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { FeedMessage, Problem, Resources } from '$lib/api/types';
import { FOCUS_MS } from '$lib/state/run-view.svelte';

import { joined } from './resources';

const POINTS = 500;
/** With so many, those that have come one by one are asked for anew, as few as before. */
const MOST_POINTS = 2 * POINTS;
/** A supervisor measures as often; the feed tells more often that something happened. */
const EVERY_MS = 5_000;
/** The last that is held comes again, so that a break after it shows. */
const OVERLAP_S = 1;
/** What is around a zoom comes, too, so that the lines go on to the edges. */
const AROUND = 0.05;

export class RunResources {
  /** All that was measured, null until it is there. */
  held = $state.raw<Resources | null>(null);
  /** A stretch of it, closer. */
  detail = $state.raw<Resources | null>(null);
  problem = $state.raw<Problem | null>(null);

  #askedAt = 0;
  #isAsking = false;
  #again: ReturnType<typeof setTimeout> | undefined;
  #focusing: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string) {}

  /** Loads and follows until the returned function is called. */
  start(): () => void {
    untrack(() => void this.load());
    const stop = live.listen((message) => this.#hear(message));
    return () => {
      clearTimeout(this.#again);
      clearTimeout(this.#focusing);
      this.#again = undefined;
      stop();
    };
  }

  /** Loads what there is, or what came since. */
  async load(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#askedAt = Date.now();
    const { held } = this;
    const last = held?.t.at(-1);
    try {
      const fresh = (query: { from?: number } = {}) => this.ask({ points: POINTS, ...query });
      if (held && last !== undefined && held.t.length < MOST_POINTS) {
        this.held = joined(held, await fresh({ from: last - OVERLAP_S }));
      } else this.held = await fresh();
      this.problem = null;
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.#isAsking = false;
    }
  }

  ask(query: { points: number; from?: number; to?: number }): Promise<Resources> {
    return api.get('/api/runs/{id}/resources', { path: { id: this.id }, query });
  }

  /** Loads a stretch in more detail, between two moments in Unix seconds. */
  focus([from, to]: readonly [number, number]): void {
    clearTimeout(this.#focusing);
    this.#focusing = setTimeout(() => void this.#loadDetail(from, to), FOCUS_MS);
  }

  async #loadDetail(from: number, to: number): Promise<void> {
    const around = Math.max(EVERY_MS / 1000, AROUND * (to - from));
    const ends = {
      ...(Number.isFinite(from) ? { from: from - around } : {}),
      ...(Number.isFinite(to) ? { to: to + around } : {}),
    };
    // Where it fails the whole is there, only coarser.
    this.detail = await this.ask({ points: MOST_POINTS, ...ends }).catch(() => null);
  }

  #hear(message: FeedMessage): void {
    // A snapshot means that the stream was away, and what came meanwhile was not told.
    const concerns =
      message.type === 'Snapshot' || (message.type === 'RunProgress' && message.run.id === this.id);
    if (!concerns || this.#again !== undefined) return;
    const wait = Math.max(0, this.#askedAt + EVERY_MS - Date.now());
    this.#again = setTimeout(() => {
      this.#again = undefined;
      void this.load();
    }, wait);
  }
}
