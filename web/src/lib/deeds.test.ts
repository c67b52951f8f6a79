import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Run } from './api/types';
import { archive, ask, isForGood, pinCheckpoint, remove, restore, tellMade, tune } from './deeds';
import { toasts } from './state/toasts.svelte';

/** What was asked of the lab, in order. */
let asked: string[];

const run = (id: string, more: Partial<Run> = {}) =>
  ({ id, state: 'running', capabilities: ['pause', 'resume', 'stop'], ...more }) as Run;

beforeEach(() => {
  asked = [];
  vi.stubGlobal('location', { origin: 'http://lab', pathname: '/' });
  vi.stubGlobal('fetch', (url: string, { method, body }: { method: string; body?: string }) => {
    asked.push([method, url, body].filter(Boolean).join(' '));
    const id = /runs\/([^/?]+)/.exec(url)?.[1];
    if (id === 'bad') return Promise.resolve(new Response('{}', { status: 409 }));
    return Promise.resolve(Response.json(run(id ?? '')));
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  for (const { id } of toasts.list) toasts.dismiss(id);
});

/** Does something, then takes it back by its toast, and says what each asked for. */
async function check(deed: () => unknown, text: string, done: string[], undone: string[]) {
  await deed();
  expect(asked.splice(0)).toEqual(done);
  const [toast] = toasts.list;
  expect(toast?.text).toBe(text);
  const index = toast?.actions.findIndex(({ label }) => label === 'Undo') ?? -1;
  expect(index >= 0).toBe(undone.length > 0);
  if (toast && index >= 0) await toasts.act(toast.id, index);
  expect(asked).toEqual(undone);
}

const post = (id: string, verb: string) => `POST /api/runs/${id}/${verb}`;

test('what is put away is brought back', () =>
  check(
    () => archive([run('a'), run('b')], true),
    '2 runs archived',
    [post('a', 'archive'), post('b', 'archive')],
    [post('a', 'unarchive'), post('b', 'unarchive')],
  ));

test('what is deleted is restored, and the other way round', async () => {
  const [gone, back] = [['DELETE /api/runs/a'], [post('a', 'restore')]];
  await check(() => remove([run('a')]), 'a deleted', gone, back);
  asked = [];
  await check(() => restore([run('a')]), 'a back from the trash', back, gone);
});

test('a pause is taken back by going on, of those that could pause', () =>
  check(
    () => ask([run('a'), run('b', { capabilities: [] })], 'pause'),
    'a pauses after this update',
    [post('a', 'pause')],
    [post('a', 'resume')],
  ));

test('what went on is paused again, and what had ended is stopped', () =>
  check(
    () => ask([run('a', { state: 'terminated' }), run('b', { state: 'paused' })], 'resume'),
    '2 runs were asked to resume',
    [post('a', 'resume'), post('b', 'resume')],
    [post('b', 'pause'), post('a', 'stop')],
  ));

test('what is done for good offers no way back', async () => {
  await check(
    () => ask([run('a')], 'stop'),
    'a stops after a last checkpoint',
    [post('a', 'stop')],
    [],
  );
  expect((['pause', 'resume', 'checkpoint', 'stop'] as const).filter(isForGood)).toEqual(['stop']);
});

test('a run that was made is stopped', () =>
  check(() => tellMade('a is queued', [run('a')]), 'a is queued', [], [post('a', 'stop')]));

test('a checkpoint is pinned, and no longer', async () => {
  let n = 0;
  await check(
    () => pinCheckpoint(run('a'), 'step_2', true, () => (n += 1)),
    'step_2 pinned',
    [`${post('a', 'pin')}?checkpoint=step_2`],
    [`${post('a', 'unpin')}?checkpoint=step_2`],
  );
  expect(n).toBe(2);
});

const TUNE = 'POST /api/runs/a/tune';

test('settings go back to what they were', () =>
  check(
    () => tune(run('a'), { lr: 0.1, ent: 0 }, { lr: 0.2, ent: 0.5 }),
    '2 settings change after this update',
    [`${TUNE} {"path":"lr","value":0.2}`, `${TUNE} {"path":"ent","value":0.5}`],
    [`${TUNE} {"path":"lr","value":0.1}`, `${TUNE} {"path":"ent","value":0}`],
  ));

test('a schedule that was tuned away does not come back', () =>
  check(
    () => tune(run('a'), {}, { lr: 0.2 }),
    'lr will be 0.2 after this update',
    [`${TUNE} {"path":"lr","value":0.2}`],
    [],
  ));

test.each([
  [
    (runs: Run[]) => archive(runs, true),
    '2 of 4 runs archived',
    [post('a', 'archive'), post('b', 'archive'), post('bad', 'archive')],
    [post('a', 'unarchive'), post('b', 'unarchive')],
  ],
  [
    (runs: Run[]) => remove(runs),
    '2 of 4 runs deleted',
    ['DELETE /api/runs/a', 'DELETE /api/runs/b', 'DELETE /api/runs/bad'],
    [post('a', 'restore'), post('b', 'restore')],
  ],
  [
    (runs: Run[]) => ask(runs, 'pause'),
    '2 of 4 runs were asked to pause',
    [post('a', 'pause'), post('b', 'pause'), post('bad', 'pause')],
    [post('a', 'resume'), post('b', 'resume')],
  ],
])('what was done before one was refused is told, and taken back: %#', (deed, ...told) =>
  check(() => expect(deed(['a', 'b', 'bad', 'c'].map((id) => run(id)))).rejects.toThrow(), ...told),
);

test('nothing is told where the first is refused', async () => {
  await expect(archive([run('bad'), run('a')], true)).rejects.toThrow();
  expect(toasts.list).toEqual([]);
});
