/** What the searches of one game found, fetched when the game is shown. */
import { api, asProblem } from '$lib/api/client';
import type { EpisodeXray, Problem, XrayStep } from '$lib/api/types';

export class SelfPlayThoughts {
  #found = $state.raw<EpisodeXray | null>(null);
  problem = $state.raw<Problem | null>(null);

  constructor(readonly id: string) {}

  get kind(): EpisodeXray['kind'] | undefined {
    return this.#found?.kind;
  }

  /** Moves of the game, as far as it is known. */
  get length(): number {
    return this.#found ? this.#found.steps.length : Infinity;
  }

  /** What was found before the move of that number, from 1. */
  at(move: number): XrayStep | undefined {
    return this.#found?.steps[move - 1];
  }

  /** Looks at a game, until the returned function is called. */
  follow(episode: number | null): () => void {
    const left = new AbortController();
    this.#found = null;
    this.problem = null;
    if (episode !== null) void this.#ask(episode, left.signal);
    return () => left.abort();
  }

  async #ask(n: number, signal: AbortSignal): Promise<void> {
    try {
      this.#found = await api.get('/api/runs/{id}/episodes/{n}/xray', {
        path: { id: this.id, n },
        signal,
      });
    } catch (error) {
      if (!signal.aborted) this.problem = asProblem(error);
    }
  }
}
