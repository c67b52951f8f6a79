/** What is done with runs from lists and pages, with a toast that takes it back. */
import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Run } from '$lib/api/types';
import { toasts } from '$lib/state/toasts.svelte';

type Verb = 'pin' | 'unpin' | 'archive' | 'unarchive' | 'restore';

async function each(runs: readonly Pick<Run, 'id'>[], verb: Verb): Promise<void> {
  // One after the other: the lab has two cores and writes an audit line for each.
  for (const { id } of runs) {
    live.set(await api.post(`/api/runs/{id}/${verb}`, { path: { id } }));
  }
}

function named(runs: readonly Pick<Run, 'id'>[]): string {
  return runs.length === 1 ? (runs[0]?.id ?? '') : `${runs.length} runs`;
}

export async function pin(runs: readonly Run[], on: boolean): Promise<void> {
  await each(runs, on ? 'pin' : 'unpin');
  toasts.show(`${named(runs)} ${on ? 'pinned' : 'no longer pinned'}`, {
    undo: () => each(runs, on ? 'unpin' : 'pin'),
  });
}

export async function archive(runs: readonly Run[], on: boolean): Promise<void> {
  await each(runs, on ? 'archive' : 'unarchive');
  toasts.show(`${named(runs)} ${on ? 'archived' : 'back from the archive'}`, {
    undo: () => each(runs, on ? 'unarchive' : 'archive'),
  });
}

/** Moves runs to the trash, from which they can be brought back for a week. */
export async function remove(runs: readonly Run[]): Promise<void> {
  for (const { id } of runs) {
    await api.delete('/api/runs/{id}', { path: { id } });
    live.forget(id);
  }
  toasts.show(`${named(runs)} deleted`, { undo: () => each(runs, 'restore') });
}

/** Asks something of each that offers it; how many that were. */
export async function ask(
  runs: readonly Run[],
  verb: 'stop' | 'pause' | 'resume',
): Promise<number> {
  const able = runs.filter((run) => run.capabilities.includes(verb));
  for (const { id } of able) live.set(await api.post(`/api/runs/{id}/${verb}`, { path: { id } }));
  return able.length;
}
