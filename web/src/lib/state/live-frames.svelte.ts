/**
 * What a run is doing, as the lab sends it: small pictures of several runs at once. A tab that is
 * hidden lets go of them, and a connection that broke is made again.
 */
import { pass, socketUrl } from '$lib/api/pass';
import type { LiveFrame } from '$lib/api/types';
import { urls } from '$lib/urls';

const RETRY_MS = [1000, 2000, 5000, 10_000];

export class LiveFrames {
  frame = $state.raw<LiveFrame | null>(null);
  /** Why there is no picture. */
  notice = $state('');

  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** Counts what was opened, so that a ticket that comes late opens nothing. */
  #turn = 0;

  constructor(
    readonly id: string,
    readonly fps: number,
  ) {}

  /** Watches until the returned function is called. */
  start(): () => void {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const look = () => {
      if (document.hidden) this.#close();
      else if (!this.#socket) this.#open(still);
    };
    document.addEventListener('visibilitychange', look);
    look();
    return () => {
      document.removeEventListener('visibilitychange', look);
      this.#close();
    };
  }

  /** Forgets the picture; the next one is shown when it comes. */
  clear(): void {
    this.frame = null;
  }

  #open(still: boolean): void {
    clearTimeout(this.#timer);
    const turn = (this.#turn += 1);
    pass(
      urls.frames(this.id, still ? 1 : this.fps),
      (url) => turn === this.#turn && this.#watch(new WebSocket(socketUrl(url)), still),
      () => turn === this.#turn && this.#again(still),
    );
  }

  #watch(socket: WebSocket, still: boolean): void {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as LiveFrame | { notice: string };
      this.#failures = 0;
      if ('notice' in message) this.notice = message.notice;
      else {
        this.notice = '';
        this.frame = message;
        // Without motion one picture stands for the run.
        if (still) this.#close();
      }
    };
    socket.onclose = ({ reason }) => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      if (reason) this.notice = reason;
      this.#again(still);
    };
  }

  #again(still: boolean): void {
    const wait = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)];
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#open(still), wait);
  }

  #close(): void {
    this.#turn += 1;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }
}
