/** What is done with runs from lists and pages, with a toast that takes it back. */
import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Run } from '$lib/api/types';
import { toasts } from '$lib/state/toasts.svelte';

type Verb = 'pin' | 'unpin' | 'archive' | 'unarchive' | 'restore' | 'stop' | 'pause' | 'resume';
type Named = Pick<Run, 'id'>;

/** Asks the same of each; what the lab answered. */
async function each(runs: readonly Named[], verb: Verb): Promise<Run[]> {
  const answers: Run[] = [];
  // One after the other: the lab has two cores and writes an audit line for each.
  for (const { id } of runs) {
    const answer = await api.post(`/api/runs/{id}/${verb}`, { path: { id } });
    live.set(answer);
    answers.push(answer);
  }
  return answers;
}

function named(runs: readonly Named[]): string {
  return runs.length === 1 ? (runs[0]?.id ?? '') : `${runs.length} runs`;
}

export async function pin(runs: readonly Named[], on: boolean): Promise<void> {
  const answers = await each(runs, on ? 'pin' : 'unpin');
  toasts.show(`${named(runs)} ${on ? 'pinned' : 'no longer pinned'}`, {
    undo: () => each(runs, on ? 'unpin' : 'pin'),
    answers,
  });
}

export async function archive(runs: readonly Named[], on: boolean): Promise<void> {
  const answers = await each(runs, on ? 'archive' : 'unarchive');
  toasts.show(`${named(runs)} ${on ? 'archived' : 'back from the archive'}`, {
    undo: () => each(runs, on ? 'unarchive' : 'archive'),
    answers,
  });
}

/** Moves runs to the trash, from which they can be brought back for a week. */
export async function remove(runs: readonly Named[]): Promise<void> {
  const answers: object[] = [];
  for (const { id } of runs) {
    answers.push(await api.delete('/api/runs/{id}', { path: { id } }));
    live.forget(id);
  }
  toasts.show(`${named(runs)} deleted`, { undo: () => each(runs, 'restore'), answers });
}

/** Brings runs back from the trash. */
export async function restore(runs: readonly Named[]): Promise<void> {
  const answers = await each(runs, 'restore');
  toasts.show(`${named(runs)} back from the trash`, { answers });
}

/** Asks something of each that offers it; the answers of those. */
export async function ask(runs: readonly Run[], verb: 'stop' | 'pause' | 'resume'): Promise<Run[]> {
  return await each(
    runs.filter((run) => run.capabilities.includes(verb)),
    verb,
  );
}
