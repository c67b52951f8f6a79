/**
 * The rewards of an episode as a curve of bounded size: in each of equal stretches of steps the
 * least and the greatest reward, and the return after it.
 */

import type { EpisodeCurve } from '$lib/api/types';

/** Stretches at most; episodes with fewer steps are shown step by step. */
export const MOST_POINTS = 1500;

export class Curve {
  readonly nSteps: number;
  /** Steps of a stretch. */
  readonly width: number;
  /** Steps that were added so far, in order from the first. */
  done = 0;
  /** The return after each stretch. */
  total: number[] = [];
  low: number[] = [];
  high: number[] = [];

  #sum = 0;

  constructor(nSteps: number, most = MOST_POINTS) {
    this.nSteps = nSteps;
    this.width = Math.max(1, Math.ceil(nSteps / most));
  }

  /** Adds the reward of the next step. One that was not finite counts as none. */
  add(reward: number | null): void {
    const value = reward ?? 0;
    const index = Math.floor(this.done / this.width);
    this.done += 1;
    this.#sum += value;
    this.total[index] = this.#sum;
    this.low[index] = Math.min(this.low[index] ?? value, value);
    this.high[index] = Math.max(this.high[index] ?? value, value);
  }

  /** The curve that the lab has drawn. */
  static of({ n_steps: nSteps, step, total, low, high }: EpisodeCurve): Curve {
    return Object.assign(new Curve(0), {
      nSteps,
      width: step[0] ?? 1,
      done: nSteps,
      total,
      low: low.map((value) => value ?? 0),
      high: high.map((value) => value ?? 0),
    });
  }

  /** Last step of a stretch. */
  stepOf(index: number): number {
    return Math.min(this.done, (index + 1) * this.width);
  }

  /**
   * The return after `step`, where it is known: within a stretch, `rewardAt` says what each step
   * earned; `undefined` is not loaded.
   */
  soFar(
    step: number,
    rewardAt: (step: number) => number | null | undefined = () => undefined,
  ): number | null {
    if (step <= 0) return 0;
    if (step > this.done) return null;
    const full = Math.floor(step / this.width);
    let sum = full === 0 ? 0 : (this.total[full - 1] as number);
    for (let at = full * this.width + 1; at <= step; at += 1) {
      const reward = rewardAt(at);
      // Close enough for a curve that is coarser than this.
      if (reward === undefined) return this.total[Math.floor((step - 1) / this.width)] ?? null;
      sum += reward ?? 0;
    }
    return sum;
  }

  /** Least and greatest return, with nought. */
  get span(): [number, number] {
    let [low, high] = [0, 0];
    for (const value of this.total) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
  }

  /** The largest reward of either sign. */
  get peak(): number {
    let most = 0;
    for (const value of this.low) most = Math.max(most, -value);
    for (const value of this.high) most = Math.max(most, value);
    return most;
  }
}

/** Three to five round numbers from `low` to `high`. */
export function roundTicks(low: number, high: number, about = 3): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? 10 * power;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / unit) * unit; tick <= high + unit * 1e-9; tick += unit)
    ticks.push(Number(tick.toPrecision(12)) + 0);
  return ticks;
}
