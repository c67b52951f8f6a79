/** One game of self-play: its moves, and what the searches found before them. */
import { api, asProblem } from '$lib/api/client';
import type { Episode, EpisodeReplay, EpisodeXray, Problem, XrayStep } from '$lib/api/types';

export class SelfPlayThoughts {
  #found = $state.raw<EpisodeXray | null>(null);
  #game = $state.raw<EpisodeReplay | null>(null);
  problem = $state.raw<Problem | null>(null);

  constructor(readonly id: string) {}

  get kind(): EpisodeXray['kind'] | undefined {
    return this.#found?.kind;
  }

  /** The game in figures. */
  get game(): Episode | undefined {
    return this.#game?.episode;
  }

  /** Whether what the searches found is still kept. */
  get recalled(): boolean {
    return this.#found?.exact ?? false;
  }

  /** Steps of the training of the network that is asked where it is not. */
  get askedAt(): number | null {
    return this.#found?.policy_step ?? null;
  }

  /** What was found before the move of that number, from 1. */
  at(move: number): XrayStep | undefined {
    return this.#found?.steps[move - 1];
  }

  /** The move of that number, from 1. */
  played(move: number): unknown {
    return this.#game?.steps[move]?.action;
  }

  /** Looks at a game, until the returned function is called. */
  follow(n: number | null): () => void {
    const left = new AbortController();
    this.#found = null;
    this.#game = null;
    this.problem = null;
    if (n !== null) void this.#ask(n, left.signal);
    return () => left.abort();
  }

  async #ask(n: number, signal: AbortSignal): Promise<void> {
    const at = { path: { id: this.id, n }, signal };
    try {
      [this.#found, this.#game] = await Promise.all([
        api.get('/api/runs/{id}/episodes/{n}/xray', at),
        api.get('/api/runs/{id}/episodes/{n}', at),
      ]);
    } catch (error) {
      if (!signal.aborted) this.problem = asProblem(error);
    }
  }
}
