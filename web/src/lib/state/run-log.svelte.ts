/** What happened to a run, with what its evaluations tell between its own lines. */
import { api } from '$lib/api/client';
import type { Entry, EvaluationEntry, FeedMessage, EventLog } from '$lib/api/types';
import { mergeEntries, mergeEvaluations, weave } from '$lib/merge';

import { Followed } from './followed.svelte';

/** Changes and crashes are marked on the charts, and a long run has many checkpoints between. */
const EVENTS = 4000;
const EVALUATIONS = 200;
/** What is told of an evaluation beside the run that it measures. */
const TOLD = new Set(['evaluation_started', 'evaluation_complete', 'warning', 'error']);

export class RunLog {
  /** Its own, oldest first. */
  events = $state.raw<Entry[]>([]);
  /** What its evaluations logged, which are runs of their own. */
  evaluations = $state.raw<EvaluationEntry[]>([]);
  /** Both, oldest first. */
  entries: Entry[] = $derived.by(() => weave(this.events, this.evaluations));

  readonly state: Followed<EventLog>;

  constructor(readonly id: string) {
    this.state = new Followed({
      ask: () => api.get('/api/runs/{id}/events', { path: { id }, query: { limit: EVENTS } }),
      take: ({ events, evaluations }) => {
        this.events = events;
        this.evaluations = evaluations;
      },
      hear: (message) => this.#hear(message),
    });
  }

  #hear(message: FeedMessage): void {
    switch (message.type) {
      case 'Snapshot':
      case 'AlertTriggered':
      case 'AlertChanged':
      case 'RunDeleted':
      case 'RunProgress':
        break;
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
}
