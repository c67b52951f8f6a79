/** Everything a page shows of one run: loaded once, then kept up to date by the live feed. */
import { api, asProblem } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type {
  Entry,
  Episode,
  EvaluationEntry,
  FeedMessage,
  Problem,
  Run,
  Series,
} from '$lib/api/types';
import {
  hasEnded,
  mergeEntries,
  mergeEpisodes,
  mergeEvaluations,
  mergeRows,
  weave,
} from '$lib/merge';

const EPISODES = 100;
/** Changes and crashes are marked on the charts, and a long run has many checkpoints between. */
const EVENTS = 4000;
const EVALUATIONS = 200;
/** What is told of an evaluation beside the run that it measures. */
const TOLD = new Set(['evaluation_started', 'evaluation_complete', 'warning', 'error']);
const POINTS = 500;
/** A gap in the numbering loads everything again, at most this often. */
const RELOAD_MS = 5_000;
/** A zoom is looked at closer when it has come to rest. */
const FOCUS_MS = 150;

export class RunView {
  readonly id: string;
  series = $state.raw<ReadonlyMap<string, Series>>(new Map());
  episodes = $state.raw<Episode[]>([]);
  /** Oldest first. */
  events = $state.raw<Entry[]>([]);
  /** What its evaluations logged, which are runs of their own. */
  evaluations = $state.raw<EvaluationEntry[]>([]);
  /** Both, oldest first. */
  log: Entry[] = $derived.by(() => weave(this.events, this.evaluations));
  /** A stretch of the series, closer than the whole shows it. */
  detail = $state.raw<ReadonlyMap<string, Series> | null>(null);
  problem = $state.raw<Problem | null>(null);
  loaded = $state(false);
  run: Run | undefined = $derived.by(() => live.runs.get(this.id));
  ended = $derived.by(() => this.run !== undefined && hasEnded(this.run));

  #lastRow = 0;
  /** Messages that came during a load, to be applied after it; null when none is under way. */
  #held: FeedMessage[] | null = null;
  #loadedAt = 0;
  #again: ReturnType<typeof setTimeout> | undefined;
  #focusing: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Loads and listens until the returned function is called. */
  start(): () => void {
    const stop = live.listen((message) => this.#receive(message));
    let stopped = false;
    void live.ready().then(() => {
      if (!stopped) void this.load();
    });
    return () => {
      stopped = true;
      clearTimeout(this.#again);
      clearTimeout(this.#focusing);
      stop();
    };
  }

  async load(): Promise<void> {
    if (this.#held) return;
    const held: FeedMessage[] = (this.#held = []);
    this.#loadedAt = Date.now();
    const path = { id: this.id };
    try {
      const [run, metrics, episodes, events] = await Promise.all([
        api.get('/api/runs/{id}', { path }),
        api.get('/api/runs/{id}/metrics', { path, query: { points: POINTS } }),
        api.get('/api/runs/{id}/episodes', { path, query: { tail: EPISODES } }),
        api.get('/api/runs/{id}/events', { path, query: { limit: EVENTS } }),
      ]);
      live.take(run);
      this.#lastRow = metrics.last_row;
      this.series = new Map(metrics.series.map((line) => [line.key, line]));
      this.episodes = episodes.episodes;
      this.events = events.events;
      this.evaluations = events.evaluations;
      this.problem = null;
      this.loaded = true;
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.#held = null;
    }
    if (this.loaded) for (const message of held) this.#apply(message);
  }

  /** Loads a stretch in more detail: between two steps, or two moments. */
  focus(axis: 'steps' | 'wall' | 'relative', low: number, high: number): void {
    clearTimeout(this.#focusing);
    this.#focusing = setTimeout(() => void this.#loadDetail(axis, low, high), FOCUS_MS);
  }

  async #loadDetail(axis: string, low: number, high: number): Promise<void> {
    const [from, to] = axis === 'steps' ? [low, high] : this.#stepsBetween(low, high);
    const query = {
      points: 2 * POINTS,
      from: Math.max(0, Math.floor(from)),
      to: Math.max(0, Math.ceil(to)),
    };
    try {
      const found = await api.get('/api/runs/{id}/metrics', { path: { id: this.id }, query });
      this.detail = new Map(found.series.map((line) => [line.key, line]));
    } catch {
      // The whole is there, only coarser.
      this.detail = null;
    }
  }

  /** The steps that were taken between two moments. */
  #stepsBetween(low: number, high: number): [number, number] {
    let [from, to] = [Infinity, 0];
    for (const line of this.series.values()) {
      line.t.forEach((t, index) => {
        const step = line.step[index] ?? 0;
        if (t <= high && step > to) to = step;
        if (t >= low && step < from) from = step;
      });
    }
    return [Number.isFinite(from) ? from : 0, to];
  }

  #receive(message: FeedMessage): void {
    // A later snapshot means that the stream was away: what happened meanwhile is loaded.
    if (message.type === 'Snapshot') {
      if (this.loaded || this.problem) void this.load();
    } else if (this.#held) this.#held.push(message);
    else if (this.loaded) this.#apply(message);
  }

  #apply(message: FeedMessage): void {
    switch (message.type) {
      case 'Snapshot':
      case 'AlertTriggered':
      case 'AlertChanged':
      case 'RunDeleted':
        break;
      case 'RunProgress': {
        if (message.run.id !== this.id) break;
        const merged = mergeRows({ lastRow: this.#lastRow, series: this.series }, message.rows);
        this.#lastRow = merged.lastRow;
        this.series = merged.series;
        if (message.episodes.length > 0) {
          this.episodes = mergeEpisodes(this.episodes, message.episodes, EPISODES);
        }
        if (merged.gap) this.#loadAgain();
        break;
      }
      case 'CheckpointCreated':
      case 'EvalResult':
      case 'TuneApplied':
      case 'ArtifactsAvailable':
      case 'ArtifactPruned':
      case 'EventLogged':
        if (message.run_id === this.id) {
          this.events = mergeEntries(this.events, [message.entry], EVENTS);
        } else if ('evaluates' in message && message.evaluates === this.id) {
          this.#hearEvaluation(message.run_id, message.entry);
        }
        break;
      default:
        message satisfies never;
    }
  }

  #hearEvaluation(run_id: string, entry: Entry): void {
    if (!TOLD.has(entry.type)) return;
    this.evaluations = mergeEvaluations(this.evaluations, [{ run_id, entry }], EVALUATIONS);
  }

  #loadAgain(): void {
    clearTimeout(this.#again);
    const wait = Math.max(0, this.#loadedAt + RELOAD_MS - Date.now());
    this.#again = setTimeout(() => void this.load(), wait);
  }
}
