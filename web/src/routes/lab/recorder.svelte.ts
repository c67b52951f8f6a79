/**
 * Records what the feed shows, from one press to the next, as a file that the browser keeps.
 *
 * The feed changes its element, from canvas to film and back, so whatever is on screen is painted
 * on a canvas of our own, and that is what is recorded. MP4 where the browser can; others say so.
 */
import { duration } from '$lib/format';
import { toasts } from '$lib/state/toasts.svelte';

const TYPES = [
  'video/mp4;codecs=avc1.42E01F',
  'video/mp4;codecs=vp9',
  'video/mp4',
  'video/webm;codecs=vp9',
  'video/webm',
];
const WIDTH = 960;
const HEIGHT = 540;
const FPS = 30;
const BITS_PER_SECOND = 4_000_000;
/** The film comes in parts that are so long. */
const PART_MS = 250;
/** A busy machine has this long for the first of them. */
const BEGIN_MS = 5000;

/** What a feed shows its picture with. */
type Shown = HTMLCanvasElement | HTMLVideoElement | HTMLImageElement;

export interface Recording {
  file: Blob;
  /** With its ending. */
  name: string;
  seconds: number;
  isMp4: boolean;
}

export class Recorder {
  startedAt = $state<number | null>(null);

  #recorder: MediaRecorder | null = null;
  #handle = 0;

  /** Why nothing can be recorded here; null when it can. */
  static refusal(): string | null {
    return typeof MediaRecorder === 'undefined' || !TYPES.some(isKnown)
      ? 'This browser cannot record'
      : null;
  }

  /** Records the picture in `box` until `stop`. */
  start(box: HTMLElement, ground: string): void {
    const type = TYPES.find(isKnown);
    if (!type || this.#recorder) return;
    const canvas = document.createElement('canvas');
    canvas.width = WIDTH;
    canvas.height = HEIGHT;
    const pen = canvas.getContext('2d');
    if (!pen) return;
    const paint = () => {
      pen.fillStyle = ground;
      pen.fillRect(0, 0, WIDTH, HEIGHT);
      const shown = box.querySelector<Shown>('canvas, video, img');
      if (shown) drawWhole(pen, shown);
      this.#handle = requestAnimationFrame(paint);
    };
    paint();
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(canvas.captureStream(FPS), {
      mimeType: type,
      videoBitsPerSecond: BITS_PER_SECOND,
    });
    this.#begun = new Promise((begun) => {
      recorder.ondataavailable = ({ data }) => {
        parts.push(data);
        if (data.size > 0) begun();
      };
    });
    recorder.onstop = () => this.#finished?.(new Blob(parts, { type: type.split(';')[0] }));
    recorder.start(PART_MS);
    this.#recorder = recorder;
    this.startedAt = Date.now();
  }

  #finished: ((file: Blob) => void) | null = null;
  /** Whether anything is in the film yet. */
  #begun: Promise<void> = Promise.resolve();

  async stop(name: string): Promise<Recording | null> {
    const recorder = this.#recorder;
    if (!recorder) return null;
    // At once: whoever leaves may have pressed the button just before.
    this.#recorder = null;
    // A film that ends before its first picture is an empty file.
    await Promise.race([this.#begun, new Promise((done) => setTimeout(done, BEGIN_MS))]);
    const seconds = (Date.now() - (this.startedAt ?? Date.now())) / 1000;
    const file = await new Promise<Blob>((resolve) => {
      this.#finished = resolve;
      recorder.stop();
    });
    cancelAnimationFrame(this.#handle);
    this.startedAt = null;
    const isMp4 = file.type === 'video/mp4';
    return { file, name: `${name}.${isMp4 ? 'mp4' : 'webm'}`, seconds, isMp4 };
  }
}

function isKnown(type: string): boolean {
  return MediaRecorder.isTypeSupported(type);
}

/** How large a picture is by itself; nothing where there is none yet. */
export function sizeOf(shown: Shown): [number, number] {
  if ('videoWidth' in shown) return [shown.videoWidth, shown.videoHeight];
  // Pixels that a foreign trainer sends; an image that cannot be read has none.
  if ('naturalWidth' in shown) return [shown.naturalWidth, shown.naturalHeight];
  return [shown.width, shown.height];
}

/** The whole of a picture, as large as it fits. */
function drawWhole(pen: CanvasRenderingContext2D, shown: Shown): void {
  const [wide, high] = sizeOf(shown);
  if (wide === 0 || high === 0) return;
  const scale = Math.min(WIDTH / wide, HEIGHT / high);
  const [w, h] = [wide * scale, high * scale];
  pen.drawImage(shown, (WIDTH - w) / 2, (HEIGHT - h) / 2, w, h);
}

/** Ends the film, if one is made, gives it to the browser to keep, and says so. */
export async function endFilm(recorder: Recorder, name: string, why = ''): Promise<void> {
  const film = await recorder.stop(name);
  if (!film) return;
  if (film.file.size === 0) {
    toasts.show('Nothing was recorded: the browser made no picture of the film');
    return;
  }
  keep(film);
  const what = `${why}${film.name}, ${duration(film.seconds)}, is among your downloads`;
  toasts.show(film.isMp4 ? what : `${what}. This browser records WebM, not MP4`);
}

/** Gives a file to the browser to keep. */
function keep({ file, name }: Recording): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
