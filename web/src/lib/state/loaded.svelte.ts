/**
 * What a part of a page has asked for: the answer, or what went wrong. An answer that comes after
 * another question was put is dropped, and one to the same question stays while it is asked again.
 *
 *     const list = new Loaded<Page>();
 *     $effect(() => list.load(text, () => api.get('/api/experiments', { query: { q: text } })));
 */
import { asProblem } from '$lib/api/client';
import type { Problem } from '$lib/api/types';

export class Loaded<T> {
  value = $state.raw<T | null>(null);
  problem = $state.raw<Problem | null>(null);
  loading = $state(false);
  /** Of what follows the answer, where it is a page of a list. */
  loadingMore = $state(false);
  moreProblem = $state.raw<Problem | null>(null);

  #key: string | null = null;
  #ask: (() => Promise<T>) | null = null;
  #turn = 0;

  /** Asks. With another key than before it is another question, so the old answer goes. */
  load(key: string, ask: () => Promise<T>): void {
    if (key !== this.#key) {
      this.value = null;
      this.problem = null;
      this.moreProblem = null;
    }
    this.#key = key;
    this.#ask = ask;
    void this.again();
  }

  /**
   * Asks for what follows the answer; `ask` gives the two together, and is asked again where the
   * answer came anew meanwhile.
   */
  async more(ask: (now: T) => Promise<T>): Promise<void> {
    if (this.value === null || this.loadingMore) return;
    this.loadingMore = true;
    this.moreProblem = null;
    const key = this.#key;
    try {
      for (let now: T | null = this.value; now !== null;) {
        const longer = await ask(now);
        // Another list was chosen.
        if (key !== this.#key) return;
        if (this.value === now) {
          this.value = longer;
          return;
        }
        now = this.value;
      }
    } catch (error) {
      if (key === this.#key) this.moreProblem = asProblem(error);
    } finally {
      this.loadingMore = false;
    }
  }

  /** Asks the same again; what is shown stays until the answer is there. */
  async again(): Promise<void> {
    const ask = this.#ask;
    if (!ask) return;
    const turn = ++this.#turn;
    this.loading = true;
    try {
      const value = await ask();
      if (turn !== this.#turn) return;
      this.value = value;
      this.problem = null;
    } catch (error) {
      if (turn === this.#turn) this.problem = asProblem(error);
    } finally {
      if (turn === this.#turn) this.loading = false;
    }
  }
}
