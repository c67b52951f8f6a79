/** What a run has made and how it was measured: loaded, and again whenever the feed tells of more. */
import { api, asProblem } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Artifact, Artifacts, EvaluationJob, FeedMessage, Problem } from '$lib/api/types';

const EVALUATIONS = 20;
/** Checkpoints may come several in a second; the list is read once for all of them. */
const SETTLE_MS = 700;

export interface Film {
  src: string;
  name: string;
}

export class RunArtifacts {
  found = $state.raw<Artifacts | null>(null);
  /** Newest first. */
  evaluations = $state.raw<EvaluationJob[]>([]);
  videosText = $state('');
  problem = $state.raw<Problem | null>(null);
  checkpoints = $derived.by(() => this.of('checkpoint'));
  /** The newest film: of the run itself or of an evaluation of it. */
  film: Film | null = $derived.by(() => {
    const job = this.evaluations.find(({ video }) => video !== null);
    if (job?.video) return filmOf(job.run.id, job.video);
    const own = this.of('video').at(-1);
    return own ? filmOf(this.id, own) : null;
  });

  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string) {}

  of(kind: Artifact['kind']): Artifact[] {
    return this.found?.artifacts.filter((artifact) => artifact.kind === kind) ?? [];
  }

  /** Loads and listens until the returned function is called. */
  start(): () => void {
    let stopped = false;
    void live.ready().then(() => {
      if (!stopped) void this.load();
    });
    const stop = live.listen((message) => {
      if (!this.#concerns(message)) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.load(), SETTLE_MS);
    });
    return () => {
      stopped = true;
      clearTimeout(this.#timer);
      stop();
    };
  }

  async load(): Promise<void> {
    const path = { id: this.id };
    try {
      const [found, { evaluations, videos_text }] = await Promise.all([
        api.get('/api/runs/{id}/artifacts', { path }),
        api.get('/api/runs/{id}/evaluations', { path, query: { limit: EVALUATIONS } }),
      ]);
      this.found = found;
      this.evaluations = evaluations;
      this.videosText = videos_text;
      this.problem = null;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #concerns(message: FeedMessage): boolean {
    switch (message.type) {
      // The first comes before anything is loaded; a later one means that the stream was away.
      case 'Snapshot':
        return this.found !== null || this.problem !== null;
      case 'CheckpointCreated':
      case 'ArtifactsAvailable':
      case 'ArtifactPruned':
        return message.run_id === this.id;
      case 'EvalResult':
        return message.run_id === this.id || message.evaluates === this.id;
      default:
        return false;
    }
  }
}

export function addressOf(run: string, artifact: Pick<Artifact, 'id'>): string {
  return `/api/runs/${encodeURIComponent(run)}/artifacts/${encodeURIComponent(artifact.id)}`;
}

export function filmOf(run: string, artifact: Artifact): Film {
  return { src: addressOf(run, artifact), name: nameOf(artifact) };
}

/** The last part of a path. */
export function nameOf({ path }: Pick<Artifact, 'path'>): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}
