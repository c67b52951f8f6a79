/**
 * Writes an animated GIF (GIF89a) from frames of pixels.
 *
 * Scenes are flat, so one palette, taken from a few frames, is enough for all of them; of each
 * frame only the rectangle that changed is written, and what did not change in it is transparent.
 */

/** Bytes of frames, as a canvas gives them: red, green, blue, alpha. */
export type Pixels = Uint8ClampedArray | Uint8Array;

const COLOURS = 256;
/** The last entry of the palette: as before. */
const SAME = COLOURS - 1;

export class GifWriter {
  readonly width: number;
  readonly height: number;
  frames = 0;

  #parts: Uint8Array<ArrayBuffer>[] = [];
  #palette: Palette;
  #before: Uint8Array | null = null;

  /** `samples` are frames from which the palette is taken. */
  constructor(width: number, height: number, samples: readonly Pixels[]) {
    this.width = width;
    this.height = height;
    this.#palette = new Palette(samples);
    const head = new Bytes();
    head.text('GIF89a');
    head.short(width);
    head.short(height);
    head.push(0xf7, 0, 0);
    head.push(...this.#palette.table);
    // For ever, in Netscape's words.
    head.push(0x21, 0xff, 11);
    head.text('NETSCAPE2.0');
    head.push(3, 1, 0, 0, 0);
    this.#parts.push(head.take());
  }

  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** Adds a frame that stays for `delay` hundredths of a second. */
  add(pixels: Pixels, delay: number): void {
    const indices = this.#palette.indices(pixels);
    const before = this.#before;
    const [left, top, right, bottom] = before
      ? changed(before, indices, this.width, this.height)
      : [0, 0, this.width, this.height];
    const part = new Uint8Array((right - left) * (bottom - top));
    let at = 0;
    for (let y = top; y < bottom; y += 1) {
      for (let x = left; x < right; x += 1, at += 1) {
        const index = y * this.width + x;
        const colour = indices[index] as number;
        part[at] = before && before[index] === colour ? SAME : colour;
      }
    }
    const out = new Bytes();
    out.push(0x21, 0xf9, 4, 0b101);
    out.short(delay);
    out.push(SAME, 0);
    out.push(0x2c);
    for (const value of [left, top, right - left, bottom - top]) out.short(value);
    out.push(0, 8);
    out.blocks(compress(part));
    this.#parts.push(out.take());
    this.#before = indices;
    this.frames += 1;
  }

  finish(): Blob {
    return new Blob([...this.#parts, new Uint8Array([0x3b])], { type: 'image/gif' });
  }
}

/** The rectangle of what differs: left, top, and the column and row after the last; never empty. */
function changed(a: Uint8Array, b: Uint8Array, width: number, height: number) {
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0, index = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, index += 1) {
      if (a[index] === b[index]) continue;
      if (x < left) left = x;
      if (x >= right) right = x + 1;
      if (y < top) top = y;
      bottom = y + 1;
    }
  }
  return right === 0 ? ([0, 0, 1, 1] as const) : ([left, top, right, bottom] as const);
}

/** The commonest colours of some frames; others are drawn in the nearest. */
class Palette {
  readonly table = new Uint8Array(COLOURS * 3);
  #used = 0;
  #known = new Map<number, number>();

  constructor(samples: readonly Pixels[]) {
    const counts = new Map<number, number>();
    for (const pixels of samples) {
      for (let at = 0; at < pixels.length; at += 4) {
        const colour = colourAt(pixels, at);
        counts.set(colour, (counts.get(colour) ?? 0) + 1);
      }
    }
    const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, SAME);
    for (const [colour] of common) {
      this.table.set([colour >> 16, (colour >> 8) & 255, colour & 255], this.#used * 3);
      this.#known.set(colour, this.#used);
      this.#used += 1;
    }
  }

  indices(pixels: Pixels): Uint8Array {
    const found = new Uint8Array(pixels.length / 4);
    let [last, index] = [-1, 0];
    for (let at = 0, to = 0; at < pixels.length; at += 4, to += 1) {
      const colour = colourAt(pixels, at);
      if (colour !== last) {
        last = colour;
        index = this.#known.get(colour) ?? this.#nearest(colour);
      }
      found[to] = index;
    }
    return found;
  }

  #nearest(colour: number): number {
    const [red, green, blue] = [colour >> 16, (colour >> 8) & 255, colour & 255];
    let [best, least] = [0, Infinity];
    for (let index = 0; index < this.#used; index += 1) {
      const r = (this.table[index * 3] as number) - red;
      const g = (this.table[index * 3 + 1] as number) - green;
      const b = (this.table[index * 3 + 2] as number) - blue;
      const distance = 3 * r * r + 6 * g * g + b * b;
      if (distance < least) [best, least] = [index, distance];
    }
    this.#known.set(colour, best);
    return best;
  }
}

function colourAt(pixels: Pixels, at: number): number {
  return (
    ((pixels[at] as number) << 16) | ((pixels[at + 1] as number) << 8) | (pixels[at + 2] as number)
  );
}

/** The codes of GIF's LZW, for indices of eight bits. */
const CLEAR = 256;
const END = 257;
const MOST_CODES = 4096;
/** The code of each code followed by each index; 0 is none. */
const following = new Uint16Array(MOST_CODES * COLOURS);

function compress(indices: Uint8Array): Uint8Array {
  const out = new Bytes();
  let [bits, held, size, next] = [0, 0, 9, END + 1];
  const write = (code: number) => {
    bits |= code << held;
    held += size;
    while (held >= 8) {
      out.push(bits & 255);
      bits >>>= 8;
      held -= 8;
    }
  };
  const clear = () => {
    write(CLEAR);
    following.fill(0);
    [size, next] = [9, END + 1];
  };
  clear();
  let prefix = indices[0] as number;
  for (let at = 1; at < indices.length; at += 1) {
    const index = indices[at] as number;
    const place = prefix * COLOURS + index;
    const longer = following[place] as number;
    if (longer !== 0) {
      prefix = longer;
      continue;
    }
    write(prefix);
    if (next === MOST_CODES) clear();
    else {
      following[place] = next;
      // The reader is one code behind.
      if (next === 1 << size) size += 1;
      next += 1;
    }
    prefix = index;
  }
  write(prefix);
  write(END);
  if (held > 0) out.push(bits & 255);
  return out.take();
}

/** Bytes that grow. */
class Bytes {
  #bytes = new Uint8Array(1024);
  #length = 0;

  push(...values: number[]): void {
    for (const value of values) {
      if (this.#length === this.#bytes.length) {
        const larger = new Uint8Array(this.#bytes.length * 2);
        larger.set(this.#bytes);
        this.#bytes = larger;
      }
      this.#bytes[this.#length++] = value;
    }
  }

  short(value: number): void {
    this.push(value & 255, value >> 8);
  }

  text(value: string): void {
    for (const char of value) this.push(char.charCodeAt(0));
  }

  /** Blocks of up to 255 bytes, and an empty one at the end. */
  blocks(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 255) {
      const block = bytes.subarray(at, at + 255);
      this.push(block.length, ...block);
    }
    this.push(0);
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }
}
