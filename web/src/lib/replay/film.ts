/** The newest film that there is of a run. */
import { api } from '$lib/api/client';
import type { Run } from '$lib/api/types';
import { urls } from '$lib/urls';

export interface FoundFilm {
  source: string;
  /** What it shows. */
  title: string;
}

/** Of the run itself, or of an evaluation of it; null where none is kept. */
export async function findFilm(run: Run, signal: AbortSignal): Promise<FoundFilm | null> {
  const { artifacts } = await api.get('/api/runs/{id}/artifacts', {
    path: { id: run.id },
    signal,
  });
  const own = artifacts
    .filter(({ kind, path }) => kind === 'video' && /\.(mp4|webm)$/.test(path))
    .sort((a, b) => b.created_at - a.created_at)[0];
  if (own) return { source: urls.artifact(run.id, own.id), title: own.path };
  if (run.kind !== 'train') return null;
  const { evaluations } = await api.get('/api/runs/{id}/evaluations', {
    path: { id: run.id },
    query: { limit: 20 },
    signal,
  });
  const filmed = evaluations.find(({ video }) => video !== null);
  if (!filmed?.video) return null;
  const source = urls.artifact(filmed.run.id, filmed.video.id);
  return { source, title: `${filmed.run.id}, ${filmed.video.path}` };
}
