/**
 * Hands on what comes in bursts, one in each task: several messages of a stream that arrive together
 * would otherwise hold the page until all of them are shown.
 */
export class OneByOne<T> {
  #waiting: T[] = [];
  #asked = false;

  constructor(
    readonly take: (it: T) => void,
    /** Calls back in a task of its own; timers would wait in a tab that is hidden. */
    readonly soon: (then: () => void) => void = inItsOwnTask(),
  ) {}

  put(it: T): void {
    this.#waiting.push(it);
    this.#ask();
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting = [];
  }

  #ask(): void {
    if (this.#asked || this.#waiting.length === 0) return;
    this.#asked = true;
    this.soon(() => {
      this.#asked = false;
      const [first, ...others] = this.#waiting;
      this.#waiting = others;
      // Whatever becomes of this one, the others have their turn.
      this.#ask();
      if (first !== undefined) this.take(first);
    });
  }
}

function inItsOwnTask(): (then: () => void) => void {
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return (then) => {
    waiting.push(then);
    port2.postMessage(null);
  };
}
