/**
 * Notices when something that speaks now and then has been silent for too long: a connection that
 * was lost without a word is not closed by anybody. It goes by the time of day and not by a timer of
 * that length, for timers stand still while a computer sleeps.
 */
export interface Hours {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls again and again until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

const HOURS: Hours = {
  now: () => Date.now(),
  every: (ms, call) => {
    const timer = setInterval(call, ms);
    return () => clearInterval(timer);
  },
};
export const LOOK_MS = 2_500;

export class Silence {
  #heardAt = 0;
  #leave: (() => void) | null = null;

  constructor(
    readonly mostMs: number,
    /** Called once for each time that it is too long. */
    readonly tooLong: () => void,
    readonly hours = HOURS,
  ) {}

  /** Something was heard, or is awaited from now on. */
  heard(): void {
    this.#heardAt = this.hours.now();
    this.#leave ??= this.hours.every(LOOK_MS, () => this.#look());
  }

  /** Nothing is awaited any more. */
  end(): void {
    this.#leave?.();
    this.#leave = null;
  }

  #look(): void {
    if (this.hours.now() - this.#heardAt <= this.mostMs) return;
    this.end();
    this.tooLong();
  }
}
