import { expect, test } from 'vitest';
import type { Environment } from '$lib/api/types';

import { asOrder, inAddress, sorted } from './orders';
import { actionText, ending, outcome, readings, spoken } from './words';

const env = {
  action_names: ['none', 'left', 'main', 'right'],
  observation_names: ['x', 'y'],
  controls: { ending: 'the pole fell' },
} as unknown as Environment;

test('an end in a word', () => {
  expect(outcome({ terminated: true, truncated: false }, env)).toBe('the pole fell');
  expect(outcome({ terminated: true }, null)).toBe('ended');
  expect(ending({ terminated: true, truncated: false }, env)).toBe('ended');
  expect(ending({ terminated: false, truncated: true }, env)).toBe('time limit');
  expect(outcome({ terminated: false, truncated: true }, env)).toBe('time limit');
  const game = { ...env, is_game: true };
  expect(outcome({ terminated: false, truncated: true }, game)).toBe('decided early');
  // Lists of runs from before there were recordings do not say it; cut short they were.
  expect(outcome({ terminated: false }, env)).toBe('time limit');
  expect(outcome({ terminated: false, truncated: false }, env)).toBe('broken off');
});

test('actions by name, as numbers, or as they were told', () => {
  expect(actionText(2, env)).toBe('main');
  expect(actionText(7, null)).toBe('7');
  expect(actionText([0.5, -1], env)).toBe('+0.500 -1');
  expect(actionText({ buy: 3 }, null)).toBe('{"buy":3}');
  expect(actionText(undefined, env)).toBe('–');
});

test('what is seen, by name', () => {
  const value = (told: unknown) => readings(told as never, env).map((r) => `${r.name} ${r.value}`);
  expect(value([0.14444, 1, -2.5])).toEqual(['x +0.144', 'y 1', '2 -2.500']);
  expect(value({ health: 3, place: 'hall' })).toEqual(['health 3', 'place hall']);
  expect(value(undefined)).toEqual([]);
});

test('a step is said in a line', () => {
  const moment = { step: 3, action: 2, reward: 1.25, terminated: true, truncated: false };
  expect(spoken(moment as never, env)).toBe('Step 3, main, reward +1.25, the pole fell');
  expect(spoken(undefined, env)).toBe('');
});

test('orders of addresses', () => {
  expect(['worst', 'x', null].map(asOrder)).toEqual(['worst', 'best', 'best']);
  expect(inAddress('best')).toBeNull();
  expect(sorted('shortest')).toEqual({ sort: 'length', order: 'asc' });
});
