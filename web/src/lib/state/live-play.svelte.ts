/**
 * An environment that a person plays. It runs in the lab, which keeps its clock and sends the
 * newest picture; from here go the controls that are held, when that changes.
 */
import { untrack } from 'svelte';
import { pass, socketUrl } from '$lib/api/pass';
import type { HumanEpisode, PlayCommand, PlayFrame } from '$lib/api/types';
import { urls } from '$lib/urls';

/** The part of a WebSocket that is used; tests hand in another. */
export type Socket = Pick<
  WebSocket,
  'send' | 'close' | 'onopen' | 'onmessage' | 'onclose' | 'readyState'
>;

/** Codes from here on are the lab's: it says why it ended the connection and means it. */
const MEANT = 4000;
const RETRY_MS = [500, 1000, 2000, 5000];
const OPEN = 1;

export class LivePlay {
  frame = $state.raw<PlayFrame | null>(null);
  connection = $state<'connecting' | 'live' | 'away' | 'ended'>('connecting');
  /** Why the lab ended the connection. */
  reason = $state('');
  /** What was played in this session before the episode on screen, oldest first. */
  episodes = $state.raw<readonly HumanEpisode[]>([]);

  #socket: Socket | null = null;
  #controls: readonly number[] = [];
  #speed = 1;
  #failures = 0;
  #again: ReturnType<typeof setTimeout> | undefined;
  /** Counts connections, so that a ticket that comes late opens nothing. */
  #turn = 0;

  constructor(
    readonly id: string,
    episodes: readonly HumanEpisode[] = [],
    readonly open: (url: string) => Socket = (url) => new WebSocket(socketUrl(url)),
  ) {
    this.episodes = episodes.filter(isWorthKeeping);
  }

  /** Connects, again when the connection is lost, until the returned function is called. */
  start(): () => void {
    // What connecting reads is no reason to connect again.
    untrack(() => this.connect());
    return () => {
      this.#turn += 1;
      clearTimeout(this.#again);
      const socket = this.#socket;
      this.#socket = null;
      socket?.close();
    };
  }

  connect(): void {
    clearTimeout(this.#again);
    if (this.connection === 'ended') this.connection = 'connecting';
    const turn = (this.#turn += 1);
    pass(
      urls.playLive(this.id),
      (url) => turn === this.#turn && this.#use(this.open(url)),
      () => turn === this.#turn && this.#connectAgain(),
    );
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      // What the lab forgot with the last connection.
      if (this.#speed !== 1) this.#send({ type: 'speed', speed: this.#speed });
      if (this.#controls.length > 0) this.hold(this.#controls);
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.connection = 'live';
      this.#failures = 0;
      this.#take(JSON.parse(String(data)) as PlayFrame);
    };
    socket.onclose = ({ code, reason }) => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      if (code >= MEANT) {
        this.connection = 'ended';
        this.reason = reason;
        return;
      }
      this.#connectAgain();
    };
  }

  #connectAgain(): void {
    this.connection = 'away';
    const wait = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)];
    this.#failures += 1;
    this.#again = setTimeout(() => this.connect(), wait);
  }

  hold(controls: readonly number[]): void {
    this.#controls = controls;
    this.#send({ type: 'hold', controls: [...controls] });
  }

  /** Decides, where the world waits for that; what is said of another step than `step` is not done. */
  act(action: number, step: number): void {
    this.#send({ type: 'act', action, step });
  }

  /** Begins, or goes on after a pause. */
  go(): void {
    this.#send({ type: 'start' });
  }

  pause(): void {
    this.#send({ type: 'pause' });
  }

  restart(seed: number | null): void {
    this.#send({ type: 'restart', seed });
  }

  speed(speed: number): void {
    this.#speed = speed;
    this.#send({ type: 'speed', speed });
  }

  #send(command: PlayCommand): void {
    if (this.#socket?.readyState === OPEN) this.#socket.send(JSON.stringify(command));
  }

  #take(frame: PlayFrame): void {
    const before = this.frame;
    this.frame = frame;
    if (before && before.episode !== frame.episode) this.#note(before);
    if (frame.phase === 'over') this.#note(frame);
  }

  #note({ episode, seed, step, total_reward, terminated, truncated }: PlayFrame): void {
    const noted = { episode, seed, length: step, total_reward, terminated, truncated };
    if (!isWorthKeeping(noted)) return;
    this.episodes = [...this.episodes.filter((other) => other.episode !== episode), noted];
  }
}

function isWorthKeeping(episode: HumanEpisode): boolean {
  return episode.length > 0;
}
