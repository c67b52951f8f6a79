/** An episode that is looked at: its steps, window by window, and its curve as it arrives. */
import { api, asProblem } from '$lib/api/client';
import type {
  EpisodeMoment,
  EpisodeReplay,
  EpisodeXray,
  Problem,
  Run,
  XrayStep,
} from '$lib/api/types';

import { Curve, MOST_POINTS } from './curve';
import { StepWindows } from './windows.svelte';

/** Thoughts of a policy that are asked for at once. */
const THOUGHTS = 1_000;

/** The pace of an episode whose environment has none of its own. */
const USUAL_PACE = 30;

export class EpisodeView {
  readonly replay: EpisodeReplay;
  readonly windows: StepWindows<EpisodeMoment>;
  /** What the policy thought before each action; null where there is none to ask. */
  readonly thoughts: StepWindows<XrayStep> | null;
  /** Which policy was asked, once it was. */
  xray = $state.raw<EpisodeXray | null>(null);
  curve = $state.raw<Curve>(new Curve(0));
  /** Why the curve does not go on. */
  curveProblem = $state.raw<Problem | null>(null);

  constructor(replay: EpisodeReplay, run: Pick<Run, 'kind'>) {
    this.replay = replay;
    this.curve = new Curve(replay.n_steps);
    this.windows = new StepWindows((from, to) => this.steps(from, to), replay.n_steps);
    const hasPolicy = replay.computed && (run.kind === 'train' || run.kind === 'eval');
    this.thoughts = hasPolicy
      ? new StepWindows((from, to) => this.#think(from, to), replay.n_steps, THOUGHTS)
      : null;
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
    return (
      await api.get('/api/runs/{id}/episodes/{n}', {
        path: { id: this.replay.run_id, n: this.replay.episode.episode },
        query: { from, to, scenes: true },
        ...(signal ? { signal } : {}),
      })
    ).steps;
  }

  /** Loads the curve, until the page is left. */
  start(): () => void {
    const left = new AbortController();
    const { run_id: id, episode } = this.replay;
    const asked = { path: { id, n: episode.episode }, query: { points: MOST_POINTS } };
    this.curveProblem = null;
    api.get('/api/runs/{id}/episodes/{n}/curve', { ...asked, signal: left.signal }).then(
      (drawn) => (this.curve = Curve.of(drawn)),
      (error: unknown) => {
        if (!left.signal.aborted) this.curveProblem = asProblem(error);
      },
    );
    return () => left.abort();
  }

  async #think(from: number, to: number): Promise<XrayStep[]> {
    const { run_id: id, episode } = this.replay;
    const path = { id, n: episode.episode };
    const told = await api.get('/api/runs/{id}/episodes/{n}/xray', { path, query: { from, to } });
    this.xray = told;
    return told.steps;
  }
}
