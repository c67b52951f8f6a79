/**
 * Charts are drawn in turns: a message changes all of them at once, and a page that drew a dozen in
 * one go would answer nobody meanwhile. Each frame draws as many as fit into it, the others wait for
 * the next; whoever is asked to draw again before its turn keeps its place and draws the newest.
 */
const BUDGET_MS = 6;

export class Turns {
  #waiting = new Map<object, () => void>();
  #asked = false;

  constructor(
    readonly frame: (then: () => void) => void = (then) => void requestAnimationFrame(then),
    readonly clock: () => number = () => performance.now(),
  ) {}

  /** Draws `who` when it is its turn. */
  ask(who: object, draw: () => void): void {
    this.#waiting.set(who, draw);
    this.#next();
  }

  /** `who` is gone, and draws no more. */
  leave(who: object): void {
    this.#waiting.delete(who);
  }

  #next(): void {
    if (this.#asked || this.#waiting.size === 0) return;
    this.#asked = true;
    this.frame(() => {
      this.#asked = false;
      const begun = this.clock();
      for (const [who, draw] of this.#waiting) {
        this.#waiting.delete(who);
        draw();
        if (this.clock() - begun >= BUDGET_MS) break;
      }
      this.#next();
    });
  }
}

export const turns = new Turns();
