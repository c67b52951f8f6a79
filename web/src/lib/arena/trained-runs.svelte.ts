/** The trainings that have something to be taken from them, and which is chosen. */
import { api } from '$lib/api/client';
import type { Run } from '$lib/api/types';
import { Loaded } from '$lib/state/loaded.svelte';

export class TrainedRuns {
  readonly found = new Loaded<Run[]>();
  /** What somebody has said; the newest where nobody has. */
  said = $state('');
  chosen: string = $derived.by(() => this.said || (this.found.value?.[0]?.id ?? ''));

  constructor(said: string | null) {
    this.said = said ?? '';
  }

  load() {
    return this.found.load('', async () => {
      const { runs } = await api.get('/api/runs', { query: { kind: 'train', limit: 200 } });
      return runs.filter((run) => run.checkpoint_step !== null);
    });
  }
}
