/** The state of the theatre: what is played, where it stands, and what its address says. */
import { untrack } from 'svelte';
import { goto } from '$app/navigation';
import { page } from '$app/state';
import { api, asProblem } from '$lib/api/client';
import type { Problem } from '$lib/api/types';
import { isLeaving } from '$lib/note';
import { EpisodeView } from '$lib/replay/episode.svelte';
import { Playback, type Speed, asSpeed } from '$lib/replay/playback.svelte';
import { parseOther } from '$lib/replay/same-seed';
import { query } from '$lib/urls';

/** A step is written into the address when the playhead has stood for so long. */
const SETTLE_MS = 250;

export class Theatre {
  readonly playback = new Playback();
  /** The episode beside it. */
  other = $state.raw<EpisodeView | null>(null);
  otherProblem = $state.raw<Problem | null>(null);
  /** The chosen range, both ends in it. */
  from = $state(0);
  to = $state(0);

  #view: () => EpisodeView | null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: () => EpisodeView | null) {
    this.#view = view;
  }

  /** The last step of whichever is longer. */
  get last(): number {
    return Math.max(this.#view()?.nSteps ?? 0, this.other?.nSteps ?? 0);
  }

  /** Another episode is on the stage. */
  start(view: EpisodeView): () => void {
    untrack(() => this.readAddress());
    return view.start();
  }

  /** Goes where the address says. */
  readAddress(): void {
    clearTimeout(this.#timer);
    const asked = page.url.searchParams;
    const end = this.#view()?.nSteps ?? 0;
    const number = (name: string, otherwise: number) => {
      const text = asked.get(name);
      const value = text === null ? NaN : Math.round(Number(text));
      return Number.isFinite(value) ? Math.max(0, value) : otherwise;
    };
    // What is beside it may be longer, and is not known yet.
    this.playback.seek(number('t', 0), asked.has('vs') ? Infinity : end);
    if (asked.has('speed')) this.playback.speed = asSpeed(asked.get('speed'));
    this.from = Math.min(end, number('from', 0));
    this.to = Math.max(this.from, Math.min(end, number('to', end)));
  }

  /** Loads what is to be beside it, `r-7f3k2m/12`. */
  compare(text: string | null): () => void {
    const wanted = parseOther(text);
    const left = new AbortController();
    let stop: (() => void) | undefined;
    this.other = null;
    this.otherProblem = null;
    if (wanted) {
      const path = { id: wanted.run, n: wanted.episode };
      const asked = { path, query: { from: 0, to: 1 }, signal: left.signal };
      Promise.all([
        api.get('/api/runs/{id}/episodes/{n}', asked),
        api.get('/api/runs/{id}', { path: { id: wanted.run }, signal: left.signal }),
      ]).then(
        ([replay, run]) => {
          if (left.signal.aborted) return;
          this.other = new EpisodeView(replay, run);
          stop = this.other.start();
        },
        (error: unknown) => {
          if (!left.signal.aborted) this.otherProblem = asProblem(error);
        },
      );
    }
    return () => {
      left.abort();
      stop?.();
    };
  }

  /** Sees to it that the pictures around the playhead are there. */
  fetchAround(): void {
    const { t, playing } = this.playback;
    const views = [this.#view(), this.other];
    for (const view of views) {
      if (!view) continue;
      // Half a second ahead at this speed.
      const rate = this.playback.rate(view.framesPerSecond);
      const ahead = playing ? Math.min(4, Math.ceil(rate / 200)) : 1;
      const step = Math.min(t, view.nSteps);
      untrack(() => {
        view.windows.want(step, ahead);
        view.thoughts?.want(step, playing ? 1 : 0);
      });
    }
  }

  /** Plays, as long as it does. */
  run(): (() => void) | undefined {
    if (!this.playback.playing) return undefined;
    let frame = 0;
    const tick = (now: number) => {
      const view = this.#view();
      if (view) {
        const isThere = (step: number) => view.isThere(step) && (this.other?.isThere(step) ?? true);
        this.playback.tick(now, this.last, view.framesPerSecond, isThere);
      }
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => {
      cancelAnimationFrame(frame);
      untrack(() => this.#settle());
    };
  }

  toggle(): void {
    if (this.playback.playing) this.playback.pause();
    else this.playback.play(this.last);
  }

  seek(step: number): void {
    this.playback.seek(step, this.last);
    this.#settle();
  }

  faster(speed: Speed): void {
    this.playback.speed = speed;
    this.#settle();
  }

  choose(from: number, to: number): void {
    [this.from, this.to] = [from, to];
    this.#settle();
  }

  leave(): void {
    clearTimeout(this.#timer);
  }

  /** Changes the address, where it stands included; a new entry of the history only if told. */
  address(change: Record<string, string | null>, replace = true): void {
    clearTimeout(this.#timer);
    const end = this.#view()?.nSteps ?? 0;
    const { t, speed } = this.playback;
    const search = query({
      t: t || null,
      from: this.from || null,
      to: this.to === end ? null : this.to,
      speed: speed === '1' ? null : speed,
      order: page.url.searchParams.get('order'),
      vs: page.url.searchParams.get('vs'),
      xray: page.url.searchParams.get('xray'),
      format: page.url.searchParams.get('format'),
      ...change,
    }).replaceAll('%2F', '/');
    if (search === page.url.search) return;
    const options = { replaceState: replace, keepFocus: true, noScroll: true };
    void goto(page.url.pathname + search, options);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.playback.playing && !isLeaving()) this.address({});
    }, SETTLE_MS);
  }
}
