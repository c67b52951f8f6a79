/**
 * The steps of an episode, a window at a time.
 *
 * An episode may have 100,000 steps with a picture each, so only those around the one that is
 * looked at are there: windows are loaded when somebody comes near, and the ones that were looked
 * at longest ago go.
 */
import { SvelteMap } from 'svelte/reactivity';
import { asProblem } from '$lib/api/client';
import type { Problem } from '$lib/api/types';

export type LoadSteps<T> = (from: number, to: number) => Promise<readonly T[]>;

/** Steps of a window, and windows that are kept. A picture is up to 10 kB. */
const SIZE = 100;
const MOST = 12;

export class StepWindows<T extends { step: number }> {
  #load: LoadSteps<T>;
  #size: number;
  #last: number;
  #held = new SvelteMap<number, ReadonlyMap<number, T>>();
  #problems = new SvelteMap<number, Problem>();
  #under = new Set<number>();
  /** Window numbers, the one looked at last at the end. */
  #looked: number[] = [];

  constructor(load: LoadSteps<T>, nSteps: number, size = SIZE) {
    this.#load = load;
    this.#size = size;
    this.#last = Math.floor(nSteps / size);
  }

  at(step: number): T | undefined {
    return this.around(step)?.get(step);
  }

  /** Everything that is in the window of a step. */
  around(step: number): ReadonlyMap<number, T> | undefined {
    return this.#held.get(Math.floor(step / this.#size));
  }

  /** Whether the window of a step is there, or will never be. */
  isSettled(step: number): boolean {
    const index = Math.floor(step / this.#size);
    return this.#held.has(index) || this.#problems.has(index);
  }

  /** Why the window of a step could not be loaded. */
  problemAt(step: number): Problem | undefined {
    return this.#problems.get(Math.floor(step / this.#size));
  }

  /** Sees to it that a step is there soon, and `ahead` windows after it. */
  want(step: number, ahead = 1): void {
    const index = Math.min(this.#last, Math.max(0, Math.floor(step / this.#size)));
    this.#touch(index);
    const end = Math.min(this.#last, index + ahead);
    for (let next = index; next <= end; next += 1) void this.#fetch(next);
  }

  retry(step: number): void {
    this.#problems.delete(Math.floor(step / this.#size));
    this.want(step);
  }

  #touch(index: number): void {
    if (this.#looked.at(-1) === index) return;
    this.#looked = this.#looked.filter((other) => other !== index);
    this.#looked.push(index);
  }

  async #fetch(index: number): Promise<void> {
    if (this.#held.has(index) || this.#problems.has(index) || this.#under.has(index)) return;
    this.#under.add(index);
    try {
      const moments = await this.#load(index * this.#size, (index + 1) * this.#size);
      this.#held.set(index, new Map(moments.map((moment) => [moment.step, moment])));
      this.#forget(index);
    } catch (error) {
      this.#problems.set(index, asProblem(error));
    } finally {
      this.#under.delete(index);
    }
  }

  /** Lets windows go until there is room, never the newest nor the one that is looked at. */
  #forget(newest: number): void {
    const here = this.#looked.at(-1);
    const byAge = [...this.#held.keys()].sort(
      (a, b) => this.#looked.indexOf(a) - this.#looked.indexOf(b),
    );
    for (const index of byAge) {
      if (this.#held.size <= MOST) return;
      // One that was fetched ahead is close to where we are, though nobody has looked at it yet.
      const isNear = here !== undefined && index >= here && index <= here + 4;
      if (index !== newest && !isNear) this.#held.delete(index);
    }
  }
}
