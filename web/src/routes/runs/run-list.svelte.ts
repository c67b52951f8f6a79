/**
 * All runs, page after page, and as they change.
 *
 * The list is made anew at most a few times a second: with thousands of runs, every message of the
 * feed would otherwise sort them all.
 */
import { untrack } from 'svelte';
import { api, asProblem } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Problem, Run } from '$lib/api/types';

const PAGE = 500;
const REFRESH_MS = 400;

export class RunList {
  runs = $state.raw<Run[]>([]);
  /** Whether there are more to come. */
  loading = $state(true);
  problem = $state.raw<Problem | null>(null);

  #cursor: string | null = null;
  #stopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refreshedAt = 0;

  /** Whether the archive is shown, and not the others; whether what people played is. */
  constructor(
    readonly archived: boolean,
    readonly human: boolean,
  ) {}

  /** Loads all and listens, until the returned function is called. */
  start(): () => void {
    this.#stopped = false;
    this.#refresh();
    const stop = live.listen((message) => {
      this.#soon();
      if (message.type === 'Snapshot' && message.reset) void this.#loadAgain();
    });
    void this.load();
    return () => {
      this.#stopped = true;
      clearTimeout(this.#timer);
      stop();
    };
  }

  async load(): Promise<void> {
    this.problem = null;
    this.loading = true;
    try {
      do {
        const query = {
          limit: PAGE,
          archived: this.archived,
          ...(this.human && { kind: 'human' }),
          cursor: this.#cursor ?? undefined,
        };
        const page = await api.get('/api/runs', { query });
        if (this.#stopped) return;
        live.take(...page.runs);
        this.#cursor = page.next_cursor;
        this.#soon();
      } while (this.#cursor);
      this.loading = false;
      this.#refresh();
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  /** From the first page on, since all was forgotten. */
  async #loadAgain(): Promise<void> {
    this.#cursor = null;
    if (!this.loading || this.problem) await this.load();
  }

  /** After something was done here, without waiting. */
  refresh(): void {
    this.#refresh();
  }

  #soon(): void {
    clearTimeout(this.#timer);
    const wait = Math.max(0, this.#refreshedAt + REFRESH_MS - Date.now());
    this.#timer = setTimeout(() => this.#refresh(), wait);
  }

  #refresh(): void {
    this.#refreshedAt = Date.now();
    this.runs = untrack(() =>
      [...live.runs.values()].filter(
        (run) => (run.kind === 'human') === this.human && run.archived === this.archived,
      ),
    );
  }
}
