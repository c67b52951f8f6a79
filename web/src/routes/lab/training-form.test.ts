import { expect, test } from 'vitest';

import { TrainingForm, complaint, parse } from './training-form.svelte';

test.each([
  ['1,000,000', 1_000_000],
  ['1_000_000', 1_000_000],
  [' 1e6 ', 1_000_000],
  ['0.0003', 0.0003],
  ['', NaN],
  ['ten', NaN],
])('%j is %s', (text, value) => expect(parse(text)).toBe(value));

test.each([
  ['learning_rate', '0.0003', undefined],
  ['learning_rate', '2', 'From 0.000001 to 1.'],
  ['learning_rate', '', 'Not a number.'],
  ['total_timesteps', '4999', 'From 5,000 to 1,000,000,000.'],
  ['total_timesteps', '5000.5', 'A whole number, please.'],
  ['seed', '-1', 'From 0 to 9,007,199,254,740,991.'],
  ['seed', '42', undefined],
] as const)('%s %j: %s', (field, text, expected) => expect(complaint(field, text)).toBe(expected));

test('a schedule is a learning rate too', () => {
  expect(complaint('learning_rate', 'lin_0.001')).toBeUndefined();
  expect(complaint('learning_rate', 'lin_2')).toBe('From 0.000001 to 1.');
  expect(complaint('seed', 'lin_0.001')).toBe('Not a number.');
});

test('fields follow a preset until somebody types over them', () => {
  const form = new TrainingForm();
  form.follow({ learning_rate: 'lin_0.001', total_timesteps: 100_000 });
  expect(form.read()).toMatchObject({ learning_rate: 'lin_0.001', total_timesteps: 100_000 });
  form.text.learning_rate = '0.01';
  form.follow({ learning_rate: 0.002, total_timesteps: null });
  expect(form.read()).toMatchObject({ learning_rate: 0.01, total_timesteps: 100_000 });
  form.follow({ learning_rate: 0.002 }, true);
  expect(form.text.learning_rate).toBe('0.002');
});

test('what the fields come to is told without complaints', () => {
  const form = new TrainingForm();
  expect(form.values()).toEqual({ learning_rate: 0.0003, total_timesteps: 1_000_000, seed: 42 });
  form.text.seed = 'much';
  expect(form.values()).toBeNull();
  expect(form.errors).toEqual({});
  expect(form.read()).toBeNull();
  expect(form.errors.seed).toBe('Not a number.');
});

test('cleared, fields are as they were given', () => {
  const form = new TrainingForm();
  form.follow({ learning_rate: 0.002 });
  form.take({ learning_rate: 'much', seed: '7' });
  form.clear();
  expect(form.typed()).toEqual({});
  expect(form.errors).toEqual({});
  expect(form.read()).toMatchObject({ learning_rate: 0.002, seed: 42 });
});
