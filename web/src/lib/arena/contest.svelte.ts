/** One evaluation, match or tournament: loaded, and loaded again while it goes on. */
import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Contest, Run } from '$lib/api/types';
import { Loaded } from '$lib/state/loaded.svelte';

/** News of a run come many times a second; a table is read once in a while. */
const AGAIN_MS = 400;

export class ContestView {
  readonly loaded = new Loaded<Contest>();
  contest: Contest | null = $derived.by(() => this.loaded.value);
  run: Run | null = $derived.by(() => live.runs.get(this.id) ?? this.contest?.run ?? null);

  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The first answer is there where the page has waited for it. */
  constructor(
    readonly id: string,
    private first: Contest | null = null,
  ) {}

  /** Loads and listens until the returned function is called. */
  start(): () => void {
    const path = { id: this.id };
    this.loaded.load(this.id, async () => {
      const contest = this.first ?? (await api.get('/api/evals/{id}', { path }));
      this.first = null;
      live.take(contest.run);
      return contest;
    });
    const stop = live.listen((message) => {
      const about =
        message.type === 'RunProgress' ? message.run.id : 'run_id' in message && message.run_id;
      if (about === this.id || message.type === 'Snapshot') this.#later();
    });
    return () => {
      stop();
      clearTimeout(this.#timer);
    };
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.loaded.again();
    }, AGAIN_MS);
  }
}
