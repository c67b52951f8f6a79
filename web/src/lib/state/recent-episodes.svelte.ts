/** The newest episodes of a run, oldest first. */
import { api } from '$lib/api/client';
import type { Episode, EpisodeList } from '$lib/api/types';
import { mergeEpisodes } from '$lib/merge';

import { Followed } from './followed.svelte';

const EPISODES = 100;

export class RecentEpisodes {
  all = $state.raw<Episode[]>([]);

  readonly state: Followed<EpisodeList>;

  constructor(id: string) {
    this.state = new Followed({
      ask: () => api.get('/api/runs/{id}/episodes', { path: { id }, query: { tail: EPISODES } }),
      take: ({ episodes }) => (this.all = episodes),
      hear: (message) => {
        if (message.type !== 'RunProgress' || message.run.id !== id) return;
        if (message.episodes.length === 0) return;
        this.all = mergeEpisodes(this.all, message.episodes, EPISODES);
      },
    });
  }
}
