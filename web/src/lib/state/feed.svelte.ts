/**
 * Plays episodes of an environment, one after the other.
 *
 * What is shown is the newest checkpoint of a run or, before there is one, a random policy. The
 * server plays an episode and sends its scenes; here they are only timed. A new checkpoint waits
 * until the episode on screen is over, or has been there for a few seconds.
 */
import { ApiProblem, api, asProblem } from '$lib/api/client';
import type { Frame, Preview, Problem } from '$lib/api/types';

export interface Source {
  envId: string;
  /** The run whose checkpoint plays; without one, or without a checkpoint, play is random. */
  run: { id: string; checkpointStep: number } | null;
}

/** Episodes kept per policy; then they go round. */
const KEPT = 6;
const HOLD_MS = 900;
const MAX_WAIT_MS = 3_000;
const MIN_FETCH_MS = 2_000;

export class Feed {
  preview = $state.raw<Preview | null>(null);
  /** Which frame of the preview is on screen. */
  index = $state(0);
  /** How many episodes this page has shown. */
  episode = $state(0);
  playing = $state(!matchMedia('(prefers-reduced-motion: reduce)').matches);
  problem = $state.raw<Problem | null>(null);
  frame: Frame | null = $derived.by(() => this.preview?.frames[this.index] ?? null);

  #source: Source | null = null;
  #kept: Preview[] = [];
  #turn = 0;
  #startedAt = 0;
  #fetchedAt = -Infinity;
  #busy = false;
  #newPolicy = false;
  #handle = 0;

  /** Runs the clock until the returned function is called; again from where it stood. */
  start(): () => void {
    if (this.playing) this.play();
    const tick = (now: number) => {
      this.#tick(now);
      this.#handle = requestAnimationFrame(tick);
    };
    this.#handle = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(this.#handle);
  }

  /** Says what to show; changes nothing when it is shown already. */
  show(source: Source): void {
    const before = this.#source;
    if (before && key(before) === key(source)) return;
    this.#source = source;
    this.#kept = [];
    this.#turn = 0;
    this.#newPolicy = true;
    if (before && before.envId === source.envId && before.run?.id === source.run?.id) return;
    this.preview = null;
    this.episode = 0;
    this.#fetchedAt = -Infinity;
  }

  pause(): void {
    this.playing = false;
  }

  /** Goes on from the frame on screen. */
  play(): void {
    this.playing = true;
    this.#startedAt = performance.now() - this.#msOf(this.index);
  }

  /** Forgets what was shown and begins anew. */
  reset(): void {
    this.preview = null;
    this.episode = 0;
    this.#kept = [];
    this.#turn = 0;
    this.retry();
  }

  retry(): void {
    this.problem = null;
    this.#fetchedAt = -Infinity;
  }

  #tick(now: number): void {
    const preview = this.preview;
    if (!preview) {
      if (!this.problem) void this.#next(now);
      return;
    }
    if (!this.playing) {
      // A paused picture still changes to a better policy's first frame when it was at its start.
      if (this.#newPolicy && this.index === 0) void this.#next(now);
      return;
    }
    const last = preview.frames.length - 1;
    const elapsed = now - this.#startedAt;
    this.index = Math.max(
      0,
      Math.min(last, Math.floor((elapsed * preview.frames_per_second) / 1000)),
    );
    const over = elapsed > this.#msOf(last) + HOLD_MS;
    if (over || (this.#newPolicy && elapsed > MAX_WAIT_MS)) void this.#next(now);
  }

  #msOf(index: number): number {
    return (index * 1000) / (this.preview?.frames_per_second ?? 1);
  }

  async #next(now: number): Promise<void> {
    if (this.#busy || !this.#source) return;
    const source = this.#source;
    if (this.#kept.length >= KEPT) {
      this.#begin(this.#kept[this.#turn++ % KEPT] as Preview);
      return;
    }
    if (now - this.#fetchedAt < MIN_FETCH_MS) return;
    this.#fetchedAt = now;
    this.#busy = true;
    try {
      const preview = await load(source, this.#kept.length + 1);
      if (this.#source !== source) return;
      this.#kept.push(preview);
      this.problem = null;
      this.#newPolicy = false;
      this.#begin(preview);
    } catch (error) {
      if (this.#source === source && !this.preview) this.problem = asProblem(error);
    } finally {
      this.#busy = false;
    }
  }

  #begin(preview: Preview): void {
    this.preview = preview;
    this.index = 0;
    this.episode += 1;
    this.#startedAt = performance.now();
  }
}

function key(source: Source): string {
  return `${source.envId} ${source.run?.id} ${source.run?.checkpointStep}`;
}

async function load(source: Source, seed: number): Promise<Preview> {
  const query = { seed };
  if (source.run) {
    try {
      return await api.get('/api/runs/{id}/preview', { path: { id: source.run.id }, query });
    } catch (error) {
      if (!(error instanceof ApiProblem && error.problem.code === 'no_checkpoint')) throw error;
    }
  }
  return await api.get('/api/environments/{id}/preview', { path: { id: source.envId }, query });
}
