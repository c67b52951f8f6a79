/**
 * The live feed: one EventSource per tab, opened by the layout.
 *
 * Browsers allow six connections to one host over HTTP/1.1, shared by all tabs, and a stream holds
 * one for ever. A hidden tab therefore lets its stream go and opens it again when it is looked at.
 * A new stream begins with a snapshot, which tells the page to load what it shows again; a stream
 * that broke goes on after its last message, by itself. One that was lost without a word is silent:
 * it is let go and opened again, as it is when the browser finds itself off the network (where a lab
 * on the same machine still answers) or on it again.
 */
import { SvelteMap } from 'svelte/reactivity';

import { goneRuns, laterRun } from '$lib/merge';
import { OneByOne } from '$lib/one-by-one';
import { Silence } from '$lib/silence';
import { urls } from '$lib/urls';

import { api } from './client';
import { pass } from './pass';
import type { Evaluation, FeedMessage, Run, SignOfLife } from './types';

export type Connection = 'connecting' | 'live' | 'reconnecting';

/** The same in a word, for a wall as for the bar. */
export const CONNECTION: Record<Connection, string> = {
  live: 'LIVE',
  connecting: 'CONNECTING',
  reconnecting: 'RECONNECTING',
};

type Listener = (message: FeedMessage) => void;

const TYPES: Record<FeedMessage['type'], true> = {
  Snapshot: true,
  RunProgress: true,
  CheckpointCreated: true,
  EvalResult: true,
  TuneApplied: true,
  ArtifactsAvailable: true,
  ArtifactPruned: true,
  AlertTriggered: true,
  AlertChanged: true,
  RunDeleted: true,
  EventLogged: true,
};
const ALIVE: SignOfLife['type'] = 'Alive';
const HIDDEN_GRACE_MS = 5_000;
const RETRY_MS = 2_000;
/** How often the lab says something at least; the same is in `cartridge-server/src/feed.rs`. */
const SIGN_OF_LIFE_MS = 15_000;

class Live {
  connection = $state<Connection>('connecting');
  /** Every run heard of in this tab, newest picture of each. */
  runs = new SvelteMap<string, Run>();

  #source: EventSource | null = null;
  #came = new OneByOne<FeedMessage>((message) => this.#receive(message));
  #silence = new Silence(2.5 * SIGN_OF_LIFE_MS, () => this.#again());
  #listeners = new Set<Listener>();
  #seenSnapshot = false;
  #waiting: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;

  /** Opens the stream for the life of the layout. */
  start(): () => void {
    const look = () => {
      clearTimeout(this.#timer);
      if (document.hidden) this.#timer = setTimeout(() => this.#close(), HIDDEN_GRACE_MS);
      else if (!this.#source) this.#open();
    };
    const again = () => this.#again();
    document.addEventListener('visibilitychange', look);
    for (const type of ['offline', 'online']) window.addEventListener(type, again);
    this.#started = true;
    if (!document.hidden) this.#open();
    return () => {
      this.#started = false;
      document.removeEventListener('visibilitychange', look);
      for (const type of ['offline', 'online']) window.removeEventListener(type, again);
      clearTimeout(this.#timer);
      this.#close();
    };
  }

  /** Calls back for every message until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Waits for the first snapshot, but not for long: loading after it leaves no gap to fill. */
  ready(timeoutMs = 800): Promise<void> {
    if (this.#seenSnapshot) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setTimeout(resolve, timeoutMs);
    });
  }

  /** Takes in runs that came by another way than the stream. */
  take(...runs: Run[]): void {
    for (const run of runs) this.runs.set(run.id, laterRun(this.runs.get(run.id), run));
  }

  /** Takes the answer to a change, which is the newest word on a run. */
  set(run: Run): void {
    this.runs.set(run.id, run);
  }

  /** Forgets a run that was deleted. */
  forget(id: string): void {
    this.runs.delete(id);
  }

  #open(): void {
    this.#silence.heard();
    pass(
      urls.stream,
      (url) => {
        if (this.#started && !this.#source && !document.hidden) this.#listenTo(url);
      },
      () => this.#retryLater(),
    );
  }

  #listenTo(url: string): void {
    const source = new EventSource(url);
    this.#source = source;
    const heard = () => {
      if (this.#source !== source) return;
      this.#silence.heard();
      this.connection = 'live';
    };
    for (const type of Object.keys(TYPES)) {
      source.addEventListener(type, (event: MessageEvent<string>) => {
        heard();
        this.#came.put(JSON.parse(event.data) as FeedMessage);
      });
    }
    source.addEventListener(ALIVE, heard);
    // A stream that goes on after its last number sends no snapshot and may be quiet for long.
    source.onopen = heard;
    source.onerror = () => {
      if (this.#source !== source) return;
      this.connection = 'reconnecting';
      // Most errors heal by themselves. A refusal (401, 503) closes for good: ask why, try again.
      if (source.readyState === EventSource.CLOSED) {
        this.#close();
        this.#retryLater();
      }
    };
  }

  /** Lets go of a stream that may be lost, and opens it anew. */
  #again(): void {
    this.#close();
    this.connection = 'reconnecting';
    clearTimeout(this.#timer);
    // A tab that is hidden opens it when it is looked at.
    if (!document.hidden) this.#open();
  }

  #retryLater(): void {
    this.#silence.heard();
    this.connection = 'reconnecting';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#retry(), RETRY_MS);
  }

  async #retry(): Promise<void> {
    try {
      await api.get('/api/lab', {});
    } catch {
      // Not logged in: the client has left for the login page. Otherwise the lab is still away.
    }
    if (this.#started && !this.#source && !document.hidden) this.#open();
  }

  #close(): void {
    this.#silence.end();
    this.#source?.close();
    this.#source = null;
    // The next one begins with a snapshot.
    this.#came.clear();
    if (this.connection === 'live') this.connection = 'reconnecting';
  }

  #receive(message: FeedMessage): void {
    switch (message.type) {
      case 'Snapshot':
        // With `reset` it is another lab, or one that has lost count: nothing held is sure.
        if (message.reset) this.runs.clear();
        else for (const id of goneRuns(this.runs.values(), message.runs)) this.forget(id);
        for (const run of message.runs) this.runs.set(run.id, run);
        this.#seenSnapshot = true;
        for (const resolve of this.#waiting.splice(0)) resolve();
        break;
      case 'RunProgress':
        this.runs.set(message.run.id, message.run);
        break;
      case 'CheckpointCreated':
        this.#change(message.run_id, (run) => ({ ...run, checkpoint_step: message.step }));
        break;
      case 'EvalResult':
        this.#change(message.run_id, (run) => withEvaluation(run, message.evaluation));
        break;
      case 'RunDeleted':
        this.forget(message.run_id);
        break;
      case 'TuneApplied':
      case 'ArtifactsAvailable':
      case 'ArtifactPruned':
      case 'AlertTriggered':
      case 'AlertChanged':
      case 'EventLogged':
        break;
      default:
        message satisfies never;
    }
    for (const listener of this.#listeners) listener(message);
  }

  #change(id: string, change: (run: Run) => Run): void {
    const run = this.runs.get(id);
    if (run) this.runs.set(id, change(run));
  }
}

function withEvaluation(run: Run, evaluation: Evaluation): Run {
  const best = run.best_eval && run.best_eval.mean >= evaluation.mean ? run.best_eval : evaluation;
  return { ...run, latest_eval: evaluation, best_eval: best };
}

export const live = new Live();
