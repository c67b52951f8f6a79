import { expect, test } from 'vitest';
import type { Knob } from '$lib/knobs';

import { complaintOf, presetsOf, valueOf } from './knob-fields.svelte';

const knob = (more: Partial<Knob>) =>
  ({ kind: 'number', nullable: false, bounds: { low: 0, high: 1 }, ...more }) as Knob;

test('texts as values of their settings', () => {
  expect(valueOf(knob({}), '0.5')).toBe(0.5);
  expect(valueOf(knob({}), 'lin_0.5')).toBe('lin_0.5');
  expect(valueOf(knob({ nullable: true }), 'none')).toBeNull();
  expect(valueOf(knob({ kind: 'boolean' }), 'on')).toBe(true);
  expect(valueOf(knob({ kind: 'text' }), '[64, 64]')).toEqual([64, 64]);
  expect(valueOf(knob({ kind: 'text' }), '256Mi')).toBe('256Mi');
});

test('what is wrong is said', () => {
  expect(complaintOf(knob({}), '2')).toBe('From 0 to 1.');
  expect(complaintOf(knob({}), 'x')).toBe('Not a number.');
  expect(complaintOf(knob({ kind: 'integer' }), '0.5')).toBe('A whole number, please.');
  expect(complaintOf(knob({ kind: 'text' }), 'x')).toBeUndefined();
});

test('presets for the algorithm, of the environment before those of any', () => {
  const of = (env_id: string | null, value: number) => ({
    algo: 'ppo',
    env_id,
    changes: [{ path: 'trainer.gamma', new: value }],
  });
  const schema = {
    presets: [
      { id: 'fast', title: 'Fast', description: '', for: [of(null, 1), of('CartPole-v1', 2)] },
      { id: 'zoo', title: 'Zoo', description: '', for: [of('Pendulum-v1', 3)] },
    ],
  };
  expect(presetsOf(schema, 'ppo', 'CartPole-v1').map(({ id, settings }) => [id, settings])).toEqual(
    [['fast', { 'trainer.gamma': 2 }]],
  );
  expect(presetsOf(schema, 'dqn', 'CartPole-v1')).toEqual([]);
});
