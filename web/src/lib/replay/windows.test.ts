import { expect, test, vi } from 'vitest';
import { ApiProblem } from '$lib/api/client';
import type { EpisodeMoment } from '$lib/api/types';

import { type LoadSteps, StepWindows } from './windows.svelte';

const moment = (step: number): EpisodeMoment => ({
  step,
  reward: 1,
  terminated: false,
  truncated: false,
});

function windows(nSteps: number, refuse: (from: number) => boolean = () => false) {
  const asked: number[] = [];
  const load: LoadSteps<EpisodeMoment> = (from, to) => {
    asked.push(from);
    if (refuse(from)) {
      const problem = {
        type: '',
        title: 'Damaged',
        status: 409,
        detail: '',
        code: 'damaged_episode',
      };
      return Promise.reject(new ApiProblem({ ...problem, request_id: '' }));
    }
    const end = Math.min(to, nSteps + 1);
    return Promise.resolve(Array.from({ length: end - from }, (_, i) => moment(from + i)));
  };
  return { asked, steps: new StepWindows(load, nSteps) };
}

test('a step and what follows it are loaded, once', async () => {
  const { asked, steps } = windows(1000);
  steps.want(250);
  steps.want(251);
  await vi.waitFor(() => expect(steps.at(250)?.step).toBe(250));
  expect(steps.at(399)?.step).toBe(399);
  expect(steps.at(199)).toBeUndefined();
  expect(asked).toEqual([200, 300]);
});

test('the end has no window after it', async () => {
  const { asked, steps } = windows(318);
  steps.want(5000, 3);
  await vi.waitFor(() => expect(steps.at(318)?.step).toBe(318));
  expect(asked).toEqual([300]);
  expect(steps.at(319)).toBeUndefined();
});

test('of a long episode only what was looked at last is kept', async () => {
  const { steps } = windows(100_000);
  for (let step = 0; step <= 5000; step += 100) {
    steps.want(step);
    await new Promise(setImmediate);
    expect(steps.isSettled(step + 100)).toBe(true);
  }
  const held = Array.from({ length: 1000 }, (_, i) => i * 100).filter((step) => steps.at(step));
  expect(held.length).toBe(12);
  expect(held.at(-1)).toBe(5100);
});

test('a window that cannot be loaded says why, and can be tried again', async () => {
  let broken = true;
  const { steps } = windows(1000, (from) => broken && from === 100);
  steps.want(0);
  await vi.waitFor(() => expect(steps.problemAt(150)?.title).toBe('Damaged'));
  expect(steps.at(50)?.step).toBe(50);
  broken = false;
  steps.retry(150);
  await vi.waitFor(() => expect(steps.at(150)?.step).toBe(150));
  expect(steps.problemAt(150)).toBeUndefined();
});
