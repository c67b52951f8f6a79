import { expect, test } from 'vitest';

import { GifWriter, type Pixels } from './gif';

/** Reads a GIF of the kind that is written here back into whole frames of colours. */
function read(bytes: Uint8Array): { width: number; height: number; frames: number[][] } {
  const short = (at: number) => (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  const [width, height] = [short(6), short(8)];
  const colour = (index: number) =>
    [0, 1, 2].reduce((sum, k) => (sum << 8) | (bytes[13 + index * 3 + k] as number), 0);
  const canvas = new Array<number>(width * height).fill(-1);
  const frames: number[][] = [];
  let at = 13 + 768;
  let transparent = -1;
  const data = (): number[] => {
    const all: number[] = [];
    for (let size = bytes[at++] as number; size > 0; size = bytes[at++] as number) {
      all.push(...bytes.subarray(at, at + size));
      at += size;
    }
    return all;
  };
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) {
      const kind = bytes[at + 1];
      at += 2;
      const told = data();
      if (kind === 0xf9) transparent = told[3] as number;
      continue;
    }
    const [left, top, w, h] = [short(at + 1), short(at + 3), short(at + 5), short(at + 7)];
    expect(bytes[at + 10]).toBe(8);
    at += 11;
    const indices = decompress(data());
    expect(indices.length).toBe(w * h);
    indices.forEach((index, i) => {
      const place = (top + Math.floor(i / w)) * width + left + (i % w);
      if (index !== transparent) canvas[place] = colour(index);
    });
    frames.push([...canvas]);
  }
  return { width, height, frames };
}

function decompress(bytes: number[]): number[] {
  const out: number[] = [];
  let table: number[][] = [];
  let [bits, held, size, at] = [0, 0, 9, 0];
  let before: number[] | null = null;
  for (;;) {
    while (held < size) {
      bits |= (bytes[at++] as number) << held;
      held += 8;
    }
    const code = bits & ((1 << size) - 1);
    bits >>>= size;
    held -= size;
    if (code === 257) return out;
    if (code === 256) {
      table = Array.from({ length: 258 }, (_, i) => [i]);
      [size, before] = [9, null];
      continue;
    }
    const word: number[] = table[code] ?? [
      ...(before as number[]),
      (before as number[])[0] as number,
    ];
    if (before && table.length < 4096) table.push([...before, word[0] as number]);
    if (table.length === 1 << size && size < 12) size += 1;
    for (const index of word) out.push(index);
    before = word;
  }
}

function pixels(colours: readonly number[]): Pixels {
  return Uint8Array.from(colours.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255, 255]));
}

async function written(width: number, height: number, frames: readonly (readonly number[])[]) {
  const drawn = frames.map(pixels);
  const gif = new GifWriter(width, height, drawn);
  for (const frame of drawn) gif.add(frame, 4);
  const blob = gif.finish();
  expect(blob.size).toBe(gif.size + 1);
  return read(new Uint8Array(await blob.arrayBuffer()));
}

test('frames come back as they were', async () => {
  const [a, b] = [0x15171a, 0xe9b44c];
  const frames = [
    [a, a, a, a, a, a],
    [a, a, b, a, b, a],
    [a, a, b, a, b, a],
    [b, b, b, b, b, b],
  ];
  expect(await written(3, 2, frames)).toEqual({ width: 3, height: 2, frames });
});

test('a large frame of 200 colours fills the table of codes and begins it anew', async () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647);
  const frame = Array.from({ length: 80 * 70 }, () => (random() % 200) * 0x010203);
  const { frames } = await written(80, 70, [frame, [...frame].reverse()]);
  expect(frames[0]).toEqual(frame);
  expect(frames[1]).toEqual([...frame].reverse());
});

test('colours that do not fit are drawn in the nearest', async () => {
  const ramp = Array.from({ length: 400 }, (_, i) => Math.min(i, 255) * 0x010000);
  const gif = new GifWriter(20, 20, [pixels(ramp)]);
  gif.add(pixels(new Array<number>(400).fill(0x00ff00)), 4);
  const { frames } = read(new Uint8Array(await gif.finish().arrayBuffer()));
  expect(new Set(frames[0]).size).toBe(1);
});
