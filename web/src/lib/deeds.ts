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

/**
 * Does one thing after the other: the lab has two cores and writes an audit line for each. Where one
 * is refused, those before it are done all the same: they are told of, then the refusal is thrown.
 */
async function carryOut<T, Answer extends object>(
  all: readonly T[],
  one: (it: T) => Promise<Answer>,
  tell: (done: readonly T[], answers: readonly Answer[]) => unknown = () => {},
): Promise<Answer[]> {
  const answers: Answer[] = [];
  try {
    for (const it of all) answers.push(await one(it));
  } finally {
    if (answers.length > 0) tell(all.slice(0, answers.length), answers);
  }
  return answers;
}

async function askOne({ id }: Named, verb: Verb): Promise<Run> {
  const answer = await api.post(`/api/runs/{id}/${verb}`, { path: { id } });
  live.set(answer);
  return answer;
}

/** Asks the same of each; what the lab answered. */
function each(runs: readonly Named[], verb: Verb): Promise<Run[]> {
  return carryOut(runs, (run) => askOne(run, verb));
}

/** Those that it was done with, of those that were meant. */
function named(done: readonly Named[], meant: readonly Named[] = done): string {
  if (meant.length === 1) return done[0]?.id ?? '';
  return done.length < meant.length
    ? `${done.length} of ${meant.length} runs`
    : `${done.length} runs`;
}

export async function pin(runs: readonly Named[], on: boolean): Promise<void> {
  await carryOut(
    runs,
    (run) => askOne(run, on ? 'pin' : 'unpin'),
    (done, answers) =>
      toasts.show(`${named(done, runs)} ${on ? 'pinned' : 'no longer pinned'}`, {
        undo: () => each(done, on ? 'unpin' : 'pin'),
        answers,
      }),
  );
}

export async function archive(runs: readonly Named[], on: boolean): Promise<void> {
  await carryOut(
    runs,
    (run) => askOne(run, on ? 'archive' : 'unarchive'),
    (done, answers) =>
      toasts.show(`${named(done, runs)} ${on ? 'archived' : 'back from the archive'}`, {
        undo: () => each(done, on ? 'unarchive' : 'archive'),
        answers,
      }),
  );
}

/** Moves runs to the trash, from which they can be brought back for a week. */
export async function remove(runs: readonly Named[]): Promise<void> {
  await carryOut(runs, bin, (done, answers) =>
    toasts.show(`${named(done, runs)} deleted`, { undo: () => each(done, 'restore'), answers }),
  );
}

async function bin({ id }: Named): Promise<object> {
  const answer = await api.delete('/api/runs/{id}', { path: { id } });
  live.forget(id);
  return answer;
}

/** Brings runs back from the trash. */
export async function restore(runs: readonly Named[]): Promise<void> {
  await carryOut(
    runs,
    (run) => askOne(run, 'restore'),
    (done, answers) =>
      toasts.show(`${named(done, runs)} back from the trash`, {
        undo: () => carryOut(done, bin),
        answers,
      }),
  );
}

/** Asks something of each that offers it. */
export async function ask(runs: readonly Run[], verb: Request): Promise<void> {
  const able = runs.filter((run) => run.capabilities.includes(verb));
  await carryOut(
    able,
    (run) => askOne(run, verb),
    (done, answers) => {
      const were = done.length === 1 ? 'was' : 'were';
      const text =
        able.length === 1
          ? `${named(done)} ${ASKED[verb]}`
          : `${named(done, able)} ${were} asked to ${verb === 'checkpoint' ? 'save a checkpoint' : verb}`;
      const back = wayBack(verb, done);
      toasts.show(text, { ...(back && { undo: back }), answers });
    },
  );
}

/** What takes it back; null when nothing does. */
function wayBack(verb: Request, done: readonly Run[]): (() => Promise<unknown>) | null {
  switch (verb) {
    case 'pause':
      return () => each(done, 'resume');
    case 'resume':
      // What had ended did not wait: it is ended again.
      return async () => {
        await each(
          done.filter((run) => !hasEnded(run)),
          'pause',
        );
        await each(done.filter(hasEnded), 'stop');
      };
    default:
      return null;
  }
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
  const put = async ([path, value]: readonly [string, number]) => {
    const answer = await api.post('/api/runs/{id}/tune', {
      path: { id: run.id },
      body: { path, value },
    });
    live.set(answer);
    return answer;
  };
  const answers = await carryOut(Object.entries(after), put, (done, answers) => {
    const [first, ...others] = done;
    const what =
      first && others.length === 0
        ? `${first[0]} will be ${first[1]}`
        : `${done.length} settings change`;
    const back = done.flatMap(([path]) => {
      const value = before[path];
      return value === undefined ? [] : [[path, value] as const];
    });
    toasts.show(`${what} after this update`, {
      ...(back.length === done.length && { undo: () => carryOut(back, put) }),
      answers,
    });
  });
  return answers.at(-1);
}
