/** What can be asked of a run, in words, and why it cannot be asked now. */
import type { Run } from '$lib/api/types';
import { hasEnded } from '$lib/merge';

export type Verb = 'start' | 'pause' | 'resume' | 'checkpoint' | 'stop' | 'terminate';

const LABEL: Record<Verb, string> = {
  start: 'Start now',
  pause: 'Pause',
  resume: 'Resume',
  checkpoint: 'Checkpoint',
  stop: 'Stop',
  terminate: 'Terminate',
};

const PROMISE: Record<Verb, string> = {
  start: 'It is started at once, past the queue',
  pause: 'The stepping stops after this update, the process stays',
  resume: 'It goes on from where it is',
  checkpoint: 'A checkpoint is saved after this update, and it goes on',
  stop: 'The last checkpoint is kept',
  terminate: 'The processes are ended at once, without a checkpoint',
};

/** Why something that a run does not offer cannot be asked of it. */
const WHY_NOT: Record<Run['state'], string> = {
  queued: 'It waits to be started',
  starting: 'It has not started yet',
  running: 'It is running',
  paused: 'It is paused',
  stopping: 'It is about to end',
  succeeded: 'It has taken all its steps',
  failed: 'It has ended',
  terminated: 'It has ended',
  lost: 'Nobody knows whether it still runs',
};

export interface Control {
  verb: Verb;
  label: string;
  title: string;
  disabled: boolean;
}

/**
 * The controls of a run: one place for start, pause and resume, since each comes after the other. A
 * run that has ended shows only what it offers.
 */
export function controlsOf(run: Pick<Run, 'state' | 'capabilities'>): Control[] {
  const can = (verb: Verb) => run.capabilities.includes(verb);
  const first: Verb = (['start', 'resume'] as const).find(can) ?? 'pause';
  const all = ([first, 'checkpoint', 'stop', 'terminate'] as const).map((verb) => ({
    verb,
    label: LABEL[verb],
    title: can(verb) ? PROMISE[verb] : WHY_NOT[run.state],
    disabled: !can(verb),
  }));
  return hasEnded(run) ? all.filter(({ disabled }) => !disabled) : all;
}
