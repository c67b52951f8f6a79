/**
 * Figures that change all the time, for who hears the page: a summary now and then, and at once
 * when something turns. Every tick read out would leave no room for anything else.
 */

/** As often as a person wants to hear the same figures. */
export const PACE_MS = 20_000;

export class LiveWords {
  /** What is read out. */
  said = $state('');

  /** What is told at once when it changes; none before the first word. */
  #turn: string | null = null;
  #newest = '';
  #saidAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** How things stand: `turn` is what must not wait. */
  tell(turn: string, words: string): void {
    this.#newest = words;
    if (this.#turn === null) {
      // Who has just come reads the page itself.
      this.#turn = turn;
      this.#saidAt = Date.now();
    } else if (turn !== this.#turn) {
      this.#turn = turn;
      this.#say();
    } else if (this.#timer === undefined) {
      const wait = Math.max(0, this.#saidAt + PACE_MS - Date.now());
      this.#timer = setTimeout(() => this.#say(), wait);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #say(): void {
    this.stop();
    this.#saidAt = Date.now();
    this.said = this.#newest;
  }
}
