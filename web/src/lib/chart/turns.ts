/**
 * Charts are drawn in turns: a message changes all of them at once, and a page that drew a dozen in
 * one go would answer nobody meanwhile. Each frame draws as many as fit into it, the others wait for
 * the next; whoever is asked to draw again before its turn keeps its place and draws the newest.
 * A page that opens is waited for, so charts that were never drawn do not wait for a frame, and take
 * longer at a time.
 */
const BUDGET_MS = 4;
const OPENING_MS = 24;

/** Whoever waits for a page can use it before the rest of it comes, but not for ever. */
const IDLE_MS = 200;

function whenIdle(then: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(then, { timeout: IDLE_MS });
  else setTimeout(then);
}

export class Turns {
  #waiting = new Map<object, () => void>();
  #drawn = new WeakSet<object>();
  #asked = false;

  constructor(
    readonly frame: (then: () => void) => void = (then) => void requestAnimationFrame(then),
    readonly clock: () => number = () => performance.now(),
    readonly idle: (then: () => void) => void = whenIdle,
    readonly soon: (then: () => void) => void = (then) => void setTimeout(then),
  ) {}

  /** Draws `who` when it is its turn. */
  ask(who: object, draw: () => void): void {
    this.#waiting.set(who, draw);
    // Whatever changed a chart has changed words around it too: they have the first frame.
    if (this.#drawn.has(who)) this.#at(() => this.#at(() => this.#draw()));
    else this.#at(() => this.#draw(), this.soon);
  }

  /** `who` is gone, and draws no more. */
  leave(who: object): void {
    this.#waiting.delete(who);
  }

  /**
   * Counts up to `parts` when all that a page draws as it opens is painted, one at each idle moment
   * and with a frame in between, until the returned function is called.
   */
  afterAll(parts: number, then: (part: number) => void): () => void {
    let left = false;
    // Charts ask when they have been laid out, which is after the first frame.
    const look = (frames: number, part: number) =>
      this.frame(() => {
        if (left) return;
        if (frames > 0 || this.#waiting.size > 0) return look(frames - 1, part);
        this.idle(() => {
          if (left) return;
          then(part);
          if (part < parts) look(0, part + 1);
        });
      });
    look(2, 1);
    return () => (left = true);
  }

  /** Does something in the next frame, or as soon as told, unless something is to be done already. */
  #at(then: () => void, when = this.frame): void {
    if (this.#asked) return;
    this.#asked = true;
    when(() => {
      this.#asked = false;
      then();
    });
  }

  #draw(): void {
    const begun = this.clock();
    let budget = BUDGET_MS;
    for (const [who, draw] of this.#waiting) {
      this.#waiting.delete(who);
      if (!this.#drawn.has(who)) budget = OPENING_MS;
      this.#drawn.add(who);
      draw();
      if (this.clock() - begun >= budget) break;
    }
    if (this.#waiting.size > 0) this.#at(() => this.#draw());
  }
}

export const turns = new Turns();
