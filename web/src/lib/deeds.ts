/**
 * What is done with runs from lists and pages. Each says so in a toast, which takes it back; what
 * cannot be taken back is asked before, by a `ConfirmButton`.
 */
import { api } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Run } from '$lib/api/types';
import { hasEnded } from '$lib/merge';
import { type ToastAction, toasts } from '$lib/state/toasts.svelte';

/** What is asked of a run at work. */
export type Request = 'start' | 'pause' | 'resume' | 'checkpoint' | 'stop' | 'terminate';
type Verb = 'pin' | 'unpin' | 'archive' | 'unarchive' | 'restore' | Request;
type Named = Pick<Run, 'id'>;

const ASKED: Record<Request, string> = {
  start: 'is started past the queue',
  pause: 'pauses after this update',
  resume: 'goes on',
  checkpoint: 'saves a checkpoint after this update',
  stop: 'stops after a last checkpoint',
  terminate: 'is ended at once',
};

/** Whether it is done for good; a checkpoint takes nothing away. */
export function isForGood(verb: Request): boolean {
  return verb === 'start' || verb === 'stop' || verb === 'terminate';
}

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
  const answers = await bin(runs);
  toasts.show(`${named(runs)} deleted`, { undo: () => each(runs, 'restore'), answers });
}

async function bin(runs: readonly Named[]): Promise<object[]> {
  const answers: object[] = [];
  for (const { id } of runs) {
    answers.push(await api.delete('/api/runs/{id}', { path: { id } }));
    live.forget(id);
  }
  return answers;
}

/** Brings runs back from the trash. */
export async function restore(runs: readonly Named[]): Promise<void> {
  const answers = await each(runs, 'restore');
  toasts.show(`${named(runs)} back from the trash`, { undo: () => bin(runs), answers });
}

/** Asks something of each that offers it. */
export async function ask(runs: readonly Run[], verb: Request): Promise<void> {
  const able = runs.filter((run) => run.capabilities.includes(verb));
  const answers = await each(able, verb);
  const text =
    able.length === 1
      ? `${named(able)} ${ASKED[verb]}`
      : `${named(able)} were asked to ${verb === 'checkpoint' ? 'save a checkpoint' : verb}`;
  const back =
    verb === 'pause'
      ? () => each(able, 'resume')
      : verb === 'resume'
        ? // What had ended did not wait: it is ended again.
          async () => {
            await each(
              able.filter((run) => !hasEnded(run)),
              'pause',
            );
            await each(able.filter(hasEnded), 'stop');
          }
        : null;
  toasts.show(text, { ...(back && { undo: back }), answers });
}

/** Says that runs were made; to take it back is to stop them. */
export function tellMade(
  text: string,
  made: readonly Named[],
  { answers = [], action }: { answers?: readonly object[]; action?: ToastAction } = {},
): void {
  toasts.show(text, { undo: () => each(made, 'stop'), answers, ...(action && { action }) });
}

/** Keeps a checkpoint from whatever makes room, or no longer. */
export async function pinCheckpoint(
  run: Named,
  checkpoint: string,
  on: boolean,
  ondone: () => unknown,
): Promise<void> {
  const put = async (on: boolean) => {
    const answer = await api.post(`/api/runs/{id}/${on ? 'pin' : 'unpin'}`, {
      path: { id: run.id },
      query: { checkpoint },
    });
    live.set(answer);
    await ondone();
    return answer;
  };
  const answer = await put(on);
  toasts.show(`${checkpoint} ${on ? 'pinned' : 'no longer pinned'}`, {
    undo: () => put(!on),
    answers: [answer],
  });
}

/** Settings of a run by their paths. */
export type Tuning = Readonly<Record<string, number>>;

/** Changes settings of a run at work, from what they were; the last answer. */
export async function tune(run: Named, before: Tuning, after: Tuning): Promise<Run | undefined> {
  const put = async (values: Tuning) => {
    const answers: Run[] = [];
    for (const [path, value] of Object.entries(values)) {
      const answer = await api.post('/api/runs/{id}/tune', {
        path: { id: run.id },
        body: { path, value },
      });
      live.set(answer);
      answers.push(answer);
    }
    return answers;
  };
  const answers = await put(after);
  const [first, ...others] = Object.entries(after);
  const what =
    first && others.length === 0
      ? `${first[0]} will be ${first[1]}`
      : `${answers.length} settings change`;
  const isWhole = Object.keys(after).every((path) => path in before);
  toasts.show(`${what} after this update`, {
    ...(isWhole && { undo: () => put(before) }),
    answers,
  });
  return answers.at(-1);
}
