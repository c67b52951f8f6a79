/** Where the playhead is and how it moves. */

export const SPEEDS = ['1', '4', '8', 'max'] as const;
export type Speed = (typeof SPEEDS)[number];

/** What "max" means: so many times the own pace, as far as the pictures keep up. */
const MAX_TIMES = 40;
/** A tab that was away goes on where it was, and does not jump. */
const LONGEST_FRAME_MS = 250;

export function asSpeed(text: string | null): Speed {
  return SPEEDS.find((speed) => speed === text) ?? '1';
}

export class Playback {
  /** The step that is shown. */
  t = $state(0);
  playing = $state(false);
  speed = $state<Speed>('1');

  #position = 0;
  #before: number | null = null;

  /** Steps per second. */
  rate(framesPerSecond: number): number {
    return framesPerSecond * (this.speed === 'max' ? MAX_TIMES : Number(this.speed));
  }

  seek(step: number, last: number): void {
    this.t = Math.max(0, Math.min(last, Math.round(step)));
    this.#position = this.t;
  }

  /** Plays, from the start when it stands at the end. */
  play(last: number): void {
    if (this.t >= last) this.seek(0, last);
    this.#position = this.t;
    this.#before = null;
    this.playing = true;
  }

  pause(): void {
    this.playing = false;
  }

  /**
   * Moves on to the time `now`, in milliseconds. A step that `isThere` says is not loaded is
   * waited for: the playhead stands before it.
   */
  tick(
    now: number,
    last: number,
    framesPerSecond: number,
    isThere: (step: number) => boolean,
  ): void {
    const elapsed = Math.min(LONGEST_FRAME_MS, now - (this.#before ?? now));
    this.#before = now;
    if (!this.playing) return;
    const wanted = this.#position + (elapsed * this.rate(framesPerSecond)) / 1000;
    const next = Math.min(last, Math.floor(wanted));
    if (next !== this.t && !isThere(next)) {
      this.#position = this.t;
      return;
    }
    this.#position = Math.min(last, wanted);
    this.t = next;
    if (next >= last) this.playing = false;
  }
}
