/**
 * Going back through a game: its earlier positions, what a network makes of them, and what would have
 * been best in them, by the network or by whoever plays the game best without one.
 *
 * One review is of one line of moves; after a move or a take-back there is another.
 */
import { SvelteMap } from 'svelte/reactivity';
import { api, asProblem } from '$lib/api/client';
import type { Analysis, Position, Problem, Review as Judged, Thoughts } from '$lib/api/types';

import { type Turned, biggestSwing, ofMistake, ofSwing } from './evaluation';

export class Review {
  positions = new SvelteMap<number, Position>();
  analyses = new SvelteMap<number, Analysis>();
  thoughts = new SvelteMap<number, Thoughts>();
  /** The whole game as a network judges it; it comes before other judgements of it. */
  judged = $state.raw<Judged | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Why a network says nothing about a position. */
  silence = $state.raw<Problem | null>(null);
  analysing = $state(false);
  thinking = $state(false);

  #ended = false;

  constructor(
    readonly id: string,
    readonly n_moves: number,
    readonly over: boolean,
    /** How much a network looks at a position; as much as it likes where that is left out. */
    readonly simulations?: number,
  ) {}

  /** The values for you by ply, as far as they are known. */
  values: (number | null)[] = $derived.by(() =>
    Array.from({ length: this.n_moves + 1 }, (_, ply) =>
      this.judged
        ? (this.judged.points[ply]?.value ?? null)
        : (this.analyses.get(ply)?.value ?? null),
    ),
  );

  /** Where the game turned, as far as that is known. */
  mistake: Turned | null = $derived.by(() =>
    this.judged ? ofMistake(this.judged.mistake) : ofSwing(biggestSwing(this.values)),
  );

  /** Gets the position after some moves. */
  async look(ply: number): Promise<void> {
    if (this.positions.has(ply)) return;
    try {
      const path = { id: this.id, ply };
      this.positions.set(ply, await api.get('/api/play/{id}/positions/{ply}', { path }));
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  /** Asks a network what it makes of a position. While the game goes on this is help. */
  async think(ply: number): Promise<Thoughts | null> {
    if (this.thoughts.has(ply) || this.thinking) return null;
    this.thinking = true;
    this.silence = null;
    const { id, simulations } = this;
    try {
      const thoughts = this.over
        ? await api.get('/api/play/{id}/positions/{ply}/thoughts', {
            path: { id, ply },
            query: { simulations },
          })
        : await api.post('/api/play/{id}/thoughts', { path: { id }, query: { ply, simulations } });
      this.thoughts.set(ply, thoughts);
      return thoughts;
    } catch (error) {
      if (!this.#ended) this.silence = asProblem(error);
      return null;
    } finally {
      this.thinking = false;
    }
  }

  /** Judges every position by a network. */
  async judge(): Promise<void> {
    await this.#analyse(async () => {
      this.judged = await api.get('/api/play/{id}/review', { path: { id: this.id } });
    });
  }

  /** Judges every position without a network, the last first: those are known soonest. */
  async analyse(): Promise<void> {
    await this.#analyse(async () => {
      this.judged = null;
      for (let ply = this.n_moves; ply >= 0 && !this.#ended; ply -= 1) {
        if (this.analyses.has(ply)) continue;
        const path = { id: this.id, ply };
        this.analyses.set(ply, await api.get('/api/play/{id}/positions/{ply}/analysis', { path }));
      }
    });
  }

  async #analyse(work: () => Promise<void>): Promise<void> {
    if (this.analysing) return;
    this.analysing = true;
    this.problem = null;
    try {
      await work();
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.analysing = false;
    }
  }

  /** Nobody looks any more. */
  end(): void {
    this.#ended = true;
  }
}
