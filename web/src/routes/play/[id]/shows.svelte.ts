/**
 * What is shown of a network's thinking. To look at it while the game goes on is help, so that nothing
 * is shown then unless somebody wants it; afterwards all of it is. Both are kept in this browser.
 */
export type Show = 'value' | 'policy' | 'numbers';

type Choice = Record<Show, boolean>;
type Kept = Pick<Storage, 'getItem' | 'setItem'>;

const KEPT = 'cartridge-shows';

export class Shows {
  #during = $state.raw<Choice>({ value: false, policy: false, numbers: false });
  #after = $state.raw<Choice>({ value: true, policy: true, numbers: true });

  constructor(readonly storage: Kept | null) {
    try {
      const { during, after } = JSON.parse(storage?.getItem(KEPT) ?? '{}');
      this.#during = { ...this.#during, ...during };
      this.#after = { ...this.#after, ...after };
    } catch {
      // What cannot be read is as if nobody had chosen.
    }
  }

  /** What is shown, of a game that goes on or is over. */
  of(over: boolean): Choice {
    return over ? this.#after : this.#during;
  }

  any(over: boolean): boolean {
    return Object.values(this.of(over)).some(Boolean);
  }

  set(over: boolean, show: Show, on: boolean): void {
    this.#put(over, { ...this.of(over), [show]: on });
  }

  /** Everything, or nothing where there is something. */
  toggle(over: boolean): void {
    const on = !this.any(over);
    this.#put(over, { value: on, policy: on, numbers: on });
  }

  #put(over: boolean, choice: Choice): void {
    if (over) this.#after = choice;
    else this.#during = choice;
    this.storage?.setItem(KEPT, JSON.stringify({ during: this.#during, after: this.#after }));
  }
}
