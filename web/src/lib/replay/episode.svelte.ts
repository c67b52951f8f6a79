/** An episode that is looked at: its steps, window by window, and its curve as it arrives. */
import { api, asProblem } from '$lib/api/client';
import type { EpisodeMoment, EpisodeReplay, Problem } from '$lib/api/types';

import { Curve } from './curve';
import { StepWindows } from './windows.svelte';

/** Steps that are asked for at once for the curve; only sums of them are kept. */
const PIECE = 2_000;

/** The pace of an episode whose environment has none of its own. */
const USUAL_PACE = 30;

export class EpisodeView {
  readonly replay: EpisodeReplay;
  readonly windows: StepWindows;
  /** Changes whenever the curve has grown. */
  curve = $state.raw<Curve>(new Curve(0));
  /** Why the curve does not go on. */
  curveProblem = $state.raw<Problem | null>(null);

  constructor(replay: EpisodeReplay) {
    this.replay = replay;
    this.curve = new Curve(replay.n_steps);
    this.windows = new StepWindows((from, to) => this.steps(from, to), replay.n_steps);
  }

  get nSteps(): number {
    return this.replay.n_steps;
  }

  /** The first moment: what foreign trainers tell begins after the first action. */
  get first(): number {
    return this.replay.computed ? 0 : Math.min(1, this.nSteps);
  }

  get framesPerSecond(): number {
    return this.replay.frames_per_second ?? USUAL_PACE;
  }

  at(step: number): EpisodeMoment | undefined {
    return this.windows.at(Math.max(this.first, Math.min(this.nSteps, step)));
  }

  /** Whether the playhead may move to a step. */
  isThere(step: number): boolean {
    return this.windows.isSettled(Math.min(this.nSteps, step));
  }

  soFar(step: number): number | null {
    return this.curve.soFar(Math.min(this.nSteps, step), (at) => {
      const moment = this.windows.at(at);
      return moment ? moment.reward : undefined;
    });
  }

  /** Steps with their pictures, from the lab. */
  async steps(from: number, to: number, signal?: AbortSignal): Promise<EpisodeMoment[]> {
    return (await this.#steps(from, to, true, signal)).steps;
  }

  /** Reads the rewards, a piece after the other, until the end or until the page is left. */
  start(): () => void {
    const left = new AbortController();
    void this.#readCurve(left.signal);
    return () => left.abort();
  }

  async #readCurve(signal: AbortSignal): Promise<void> {
    this.curveProblem = null;
    const curve = new Curve(this.nSteps);
    try {
      while (curve.done < this.nSteps) {
        const from = curve.done + 1;
        const { steps } = await this.#steps(from, from + PIECE, false, signal);
        if (steps.length === 0) return;
        for (const { reward } of steps) curve.add(reward);
        this.curve = curve.snapshot();
      }
    } catch (error) {
      if (!signal.aborted) this.curveProblem = asProblem(error);
    }
  }

  #steps(from: number, to: number, scenes: boolean, signal?: AbortSignal) {
    const { run_id: id, episode } = this.replay;
    return api.get('/api/runs/{id}/episodes/{n}', {
      path: { id, n: episode.episode },
      query: { from, to, scenes },
      ...(signal ? { signal } : {}),
    });
  }
}
