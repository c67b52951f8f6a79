/** The episodes of a run in some order, a page after the other. */
import { api, asProblem } from '$lib/api/client';
import type { Episode, Problem } from '$lib/api/types';

import { type Order, sorted } from './orders';

export class EpisodePages {
  readonly run: string;
  readonly order: Order;
  readonly limit: number;
  /** None before the first page. */
  episodes = $state.raw<readonly Episode[] | null>(null);
  total = $state(0);
  /** Episodes that cannot be read, or not to their end. */
  damaged = $state(0);
  loading = $state(false);
  problem = $state.raw<Problem | null>(null);

  constructor(run: string, order: Order, limit = 50) {
    this.run = run;
    this.order = order;
    this.limit = limit;
  }

  get hasMore(): boolean {
    return this.episodes !== null && this.episodes.length < this.total;
  }

  /** The first page, or the next. */
  async more(): Promise<void> {
    await this.#load(this.episodes?.length ?? 0);
  }

  /** The first page again: a run that trains has new ones. */
  async refresh(): Promise<void> {
    await this.#load(0);
  }

  async #load(offset: number): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    this.problem = null;
    try {
      const page = await api.get('/api/runs/{id}/episodes', {
        path: { id: this.run },
        query: { ...sorted(this.order), offset, limit: this.limit },
      });
      const before = offset === 0 ? [] : (this.episodes ?? []);
      // While a run trains, episodes move along the list between two pages.
      const known = new Set(before.map(({ episode }) => episode));
      this.episodes = [...before, ...page.episodes.filter(({ episode }) => !known.has(episode))];
      // A page without anything new is the last, whatever the total says.
      this.total = page.episodes.length === 0 ? this.episodes.length : page.total;
      this.damaged = page.damaged;
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.loading = false;
    }
  }
}
