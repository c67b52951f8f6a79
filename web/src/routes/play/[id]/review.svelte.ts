/**
 * Going back through a game: its earlier positions, and what would have been best in them.
 *
 * One review is of one line of moves; after a move or a take-back there is another.
 */
import { SvelteMap } from 'svelte/reactivity';
import { api, asProblem } from '$lib/api/client';
import type { Analysis, Position, Problem } from '$lib/api/types';

export class Review {
  positions = new SvelteMap<number, Position>();
  analyses = new SvelteMap<number, Analysis>();
  problem = $state.raw<Problem | null>(null);
  analysing = $state(false);

  #ended = false;

  constructor(
    readonly id: string,
    readonly n_moves: number,
  ) {}

  /** The values for you by ply, as far as they are known. */
  values: (number | null)[] = $derived.by(() =>
    Array.from({ length: this.n_moves + 1 }, (_, ply) => this.analyses.get(ply)?.value ?? null),
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

  /** Judges every position, the last first: those are known soonest. */
  async analyse(): Promise<void> {
    if (this.analysing) return;
    this.analysing = true;
    this.problem = null;
    try {
      for (let ply = this.n_moves; ply >= 0 && !this.#ended; ply -= 1) {
        if (this.analyses.has(ply)) continue;
        const path = { id: this.id, ply };
        this.analyses.set(ply, await api.get('/api/play/{id}/positions/{ply}/analysis', { path }));
      }
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
