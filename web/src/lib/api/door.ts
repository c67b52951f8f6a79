/**
 * Where the lab is. Mostly behind the page itself, and a cookie opens it. A page that is hosted
 * elsewhere is told the lab's address and a token, and keeps both in this browser.
 */
const KEPT = 'cartridge-lab';

interface Elsewhere {
  /** Such as `http://127.0.0.1:8080`. */
  origin: string;
  token: string;
}

export class Door {
  #elsewhere: Elsewhere | null;

  constructor(readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null) {
    this.#elsewhere = parse(storage?.getItem(KEPT) ?? null);
  }

  get isElsewhere(): boolean {
    return this.#elsewhere !== null;
  }

  /** The lab's address where it is elsewhere. */
  get origin(): string {
    return this.#elsewhere?.origin ?? '';
  }

  url(path: string): string {
    return this.origin + path;
  }

  headers(): Record<string, string> {
    return this.#elsewhere ? { authorization: `Bearer ${this.#elsewhere.token}` } : {};
  }

  enter(origin: string, token: string): void {
    this.#elsewhere = { origin, token };
    this.storage?.setItem(KEPT, JSON.stringify(this.#elsewhere));
  }

  leave(): void {
    this.#elsewhere = null;
    this.storage?.removeItem(KEPT);
  }
}

/** The origin of an address as people write it, `null` where it is none. */
export function originOf(address: string): string | null {
  const text = address.trim();
  try {
    const { protocol, origin } = new URL(/^\w+:\/\//.test(text) ? text : `http://${text}`);
    return protocol === 'http:' || protocol === 'https:' ? origin : null;
  } catch {
    return null;
  }
}

function parse(text: string | null): Elsewhere | null {
  if (text === null) return null;
  try {
    const { origin, token } = JSON.parse(text) as Partial<Elsewhere>;
    return origin && token ? { origin, token } : null;
  } catch {
    return null;
  }
}

export const door = new Door(typeof localStorage === 'undefined' ? null : localStorage);
