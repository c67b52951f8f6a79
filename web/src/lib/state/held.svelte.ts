/** Which controls a person holds, by keyboard and by touch, several at once. */

export class Held {
  /** Places of the controls in their list, the one pressed last coming last. */
  controls = $state.raw<readonly number[]>([]);

  /** What holds a control down, in the order of pressing: two keys may hold the same one. */
  #holders = new Map<string, number>();

  constructor(
    readonly keys: readonly (readonly string[])[],
    readonly onchange: (controls: readonly number[]) => void = () => {},
  ) {}

  /** A key goes down; whether it is one of a control. */
  press(key: string): boolean {
    const control = this.#of(key);
    if (control < 0) return false;
    this.#hold(`key ${named(key)}`, control);
    return true;
  }

  /** A key goes up. */
  release(key: string): void {
    this.#letGo(`key ${named(key)}`);
  }

  /** A finger, or the mouse, goes down on a control. */
  touch(control: number, pointer: number): void {
    this.#hold(`pointer ${pointer}`, control);
  }

  lift(pointer: number): void {
    this.#letGo(`pointer ${pointer}`);
  }

  /** Lets go of everything: the window lost the keys, and will not hear them go up. */
  clear(): void {
    this.#holders.clear();
    this.#tell();
  }

  #of(key: string): number {
    return this.keys.findIndex((keys) => keys.includes(named(key)));
  }

  #hold(holder: string, control: number): void {
    // A key that is held repeats; that makes it no newer.
    if (this.#holders.get(holder) === control) return;
    this.#holders.delete(holder);
    this.#holders.set(holder, control);
    this.#tell();
  }

  #letGo(holder: string): void {
    if (this.#holders.delete(holder)) this.#tell();
  }

  #tell(): void {
    const newest = [...new Set([...this.#holders.values()].reverse())].reverse();
    const same =
      newest.length === this.controls.length && newest.every((c, i) => c === this.controls[i]);
    if (same) return;
    this.controls = newest;
    this.onchange(newest);
  }
}

/** Letters are the same with and without Shift. */
export function named(key: string): string {
  return key.length === 1 ? key.toLowerCase() : key;
}
