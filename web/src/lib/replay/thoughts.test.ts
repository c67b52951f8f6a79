import { expect, test } from 'vitest';
import type { Environment, XrayStep } from '$lib/api/types';

import { mostWorthy, share, valuePath, verdictOf } from './thoughts';

const thought = (actions: (number | null)[], more: Partial<XrayStep> = {}): XrayStep => ({
  step: 1,
  actions,
  best: 2,
  entropy: 0.884,
  value: 5,
  searched: false,
  ...more,
});
const env = { action_names: ['none', 'left', 'main', 'right'] } as Environment;

test('of many actions the best are shown, and what was done', () => {
  expect(mostWorthy(3, 9, undefined, 1)).toEqual([0, 1, 2]);
  expect(mostWorthy(5, 3, thought([0.1, 0.5, 0.2, null, 0.2]), 0)).toEqual([1, 2, 0]);
  expect(mostWorthy(70, 9, undefined, 12)).toEqual([12]);
});

test('probabilities are as they are, values lie between the least and the best', () => {
  expect(share(thought([0.25, 0.75]), 'probabilities', 1)).toBe(0.75);
  expect([0, 1, 2].map((index) => share(thought([-10, 0, 10]), 'values', index))).toEqual([
    0, 0.5, 1,
  ]);
  expect(share(thought([null, 1]), 'values', 0)).toBe(0);
});

test('chosen against best, in a sentence', () => {
  expect(verdictOf(thought([]), 'probabilities', 2, env)).toBe(
    'Chose the most likely action. Entropy 0.88 nat.',
  );
  expect(verdictOf(thought([], { entropy: null }), 'values', 1, env)).toBe(
    'Chose another than the most valuable, main.',
  );
  expect(verdictOf(thought([], { best: null }), 'gaussian', [1], env)).toBe('Entropy 0.88 nat.');
  expect(verdictOf(undefined, undefined, 1, env)).toBe('');
});

test('values become a line', () => {
  const steps = [0, 4, 2].map((value, index) => thought([], { step: index + 1, value }));
  const all = new Map(steps.map((step) => [step.step, step]));
  expect(valuePath(all, 2, 100, 48)).toEqual({
    path: 'M0.0 44.0L50.0 4.0L100.0 24.0',
    at: [50, 4],
  });
  expect(valuePath(new Map(), 1, 100, 48)).toEqual({ path: '', at: null });
});
