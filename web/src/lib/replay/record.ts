/** A stretch of an episode as an animated GIF, made in the browser from the scenes. */
import type { EpisodeMoment, Paint, Scene } from '$lib/api/types';
import { count, signed } from '$lib/format';
import { draw } from '$lib/scene/draw';

import { GifWriter, type Pixels } from './gif';

/** More than this makes a file that nobody wants to wait for. */
export const MOST_SECONDS = 40;
const FRAMES_PER_SECOND = 25;
const WIDTH = 480;
const MOST_HEIGHT = 480;
/** The end stays for a moment. */
const END_CS = 100;
/** Frames from which the palette is taken. */
const SAMPLES = 12;
const PIECE = 100;

export interface Pace {
  /** A frame is taken every so many steps. */
  every: number;
  frames: number;
  /** Hundredths of a second of each. */
  delay: number;
  seconds: number;
}

/** How steps `from` to `to`, both included, are shown at their own speed. */
export function pace(from: number, to: number, stepsPerSecond: number): Pace {
  const steps = Math.max(1, to - from + 1);
  const every = Math.max(1, Math.ceil(stepsPerSecond / FRAMES_PER_SECOND));
  const frames = Math.ceil(steps / every);
  // Browsers show anything under 2 hundredths as 10.
  const delay = Math.max(2, Math.round((100 * every) / stepsPerSecond));
  return { every, frames, delay, seconds: (frames * delay) / 100 };
}

export interface Look {
  paint: (paint: Paint) => string;
  ground: string;
  text: string;
  font: string;
}

interface Stretch {
  from: number;
  to: number;
  stepsPerSecond: number;
  name: string;
  load: (from: number, to: number) => Promise<readonly EpisodeMoment[]>;
  /** The return after a step, where it is known. */
  soFar: (step: number) => number | null;
  look: Look;
  signal: AbortSignal;
  onprogress: (frames: number, bytes: number) => void;
}

/** Loads, draws and writes frame by frame, leaving the page free between frames. */
export async function recordGif(stretch: Stretch): Promise<Blob> {
  const { from, to, signal, onprogress } = stretch;
  const { every, delay } = pace(from, to, stretch.stepsPerSecond);
  let gif: GifWriter | null = null;
  let canvas: Canvas | null = null;
  let held: Pixels[] = [];
  const write = (pixels: Pixels, last: boolean) => gif?.add(pixels, last ? END_CS : delay);
  for (let at = from; at <= to; at += PIECE) {
    const moments = await stretch.load(at, Math.min(to + 1, at + PIECE));
    for (const moment of moments) {
      if ((moment.step - from) % every !== 0 || !moment.scene) continue;
      signal.throwIfAborted();
      canvas ??= new Canvas(moment.scene, stretch.look);
      const words = `${stretch.name}  step ${count(moment.step)}  return ${signed(stretch.soFar(moment.step))}`;
      const pixels = canvas.drawn(moment.scene, words);
      const isLast = moment.step + every > to;
      if (gif) write(pixels, isLast);
      else {
        // The palette needs a few frames before the first can be written.
        held.push(pixels);
        if (held.length >= SAMPLES || isLast) {
          gif = new GifWriter(canvas.width, canvas.height, held);
          held.forEach((frame, index) => write(frame, isLast && index === held.length - 1));
          held = [];
        }
      }
      if (gif) onprogress(gif.frames, gif.size);
      await free();
    }
  }
  if (!gif) throw new Error('There are no pictures in this stretch.');
  return gif.finish();
}

class Canvas {
  readonly width = WIDTH;
  readonly height: number;
  #pen: OffscreenCanvasRenderingContext2D;
  #look: Look;

  constructor(scene: Scene, look: Look) {
    const [left = 0, bottom = 0, right = 1, top = 1] = scene.view;
    const height = Math.round((WIDTH * (top - bottom)) / (right - left));
    this.height = Math.max(60, Math.min(MOST_HEIGHT, height));
    this.#look = look;
    const canvas = new OffscreenCanvas(this.width, this.height);
    this.#pen = canvas.getContext('2d', {
      willReadFrequently: true,
    }) as OffscreenCanvasRenderingContext2D;
  }

  drawn(scene: Scene, words: string): Pixels {
    const { paint, ground, text, font } = this.#look;
    draw(this.#pen, scene, this.width, this.height, paint, ground, font);
    this.#pen.font = `12px ${font}`;
    this.#pen.textAlign = 'left';
    this.#pen.textBaseline = 'top';
    this.#pen.fillStyle = text;
    this.#pen.fillText(words, 8, 6);
    return this.#pen.getImageData(0, 0, this.width, this.height).data;
  }
}

function free(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}
