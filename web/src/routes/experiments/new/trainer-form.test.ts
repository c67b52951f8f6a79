import { expect, test } from 'vitest';

import type { Trainer, TrainerArgument } from '$lib/api/types';
import { type Setting, hasSlider, parse } from '$lib/settings/schema';
import { SettingsForm } from '$lib/settings/settings-form.svelte';

import { EXAMPLE, againOf, complaintsOf, formOf, fromAddress, parseSeed } from './trainer-form';

const argument = (name: string, more: Partial<TrainerArgument>): TrainerArgument => ({
  name,
  type: 'string',
  default: null,
  minimum: null,
  maximum: null,
  max_length: more.type === undefined ? 5 : null,
  choices: [],
  help: '',
  required: false,
  ...more,
});

const TRAINER: Trainer = {
  id: 'cem',
  title: 'Cross entropy',
  env_ids: ['CartPole-v1'],
  arguments: [
    argument('n_steps', { type: 'integer', default: 3000, minimum: 1000, maximum: 1_000_000 }),
    argument('learning_rate', { type: 'number', minimum: 0, maximum: 1 }),
    argument('tag', {}),
    argument('is_loud', { type: 'boolean' }),
    argument('kind', { type: 'choice', choices: ['linear', 'deep'] }),
  ],
};

function typing(trainer = TRAINER) {
  const form = formOf(trainer);
  const values = new SettingsForm(
    () => form,
    () => ({}),
  );
  const at = (path: string) => form.settings.find((one) => one.path === path) as Setting;
  return { form, values, at, type: (path: string, text: string) => values.set(at(path), text) };
}

test('arguments become settings with the same fields', () => {
  const { form, at } = typing();
  expect(form.groups.map(({ name, settings }) => [name, settings.length])).toEqual([
    ['Arguments', 5],
  ]);
  expect(at('n_steps')).toMatchObject({ title: 'N steps', kind: 'number', whole: true, log: true });
  expect(hasSlider(at('n_steps')) && hasSlider(at('learning_rate'))).toBe(true);
  expect(at('kind').choices).toEqual(['', 'linear', 'deep']);
  expect(formOf({ ...TRAINER, arguments: [] }).groups).toEqual([]);
});

test('only what was said is sent', () => {
  const { form, values, type } = typing();
  expect([values.config, complaintsOf(form, (one) => values.text(one))]).toEqual([{}, []]);
  type('n_steps', '5,000');
  type('learning_rate', '1e-3');
  type('tag', '--x');
  type('is_loud', 'true');
  type('kind', 'deep');
  expect(values.config).toEqual({
    n_steps: 5000,
    learning_rate: 0.001,
    tag: '--x',
    is_loud: true,
    kind: 'deep',
  });
  for (const path of ['learning_rate', 'tag', 'kind']) type(path, '');
  type('is_loud', 'false');
  type('n_steps', '3000');
  expect(values.config).toEqual({});
});

test('what is beyond the bounds is said before it is sent', () => {
  const { form, values, at, type } = typing();
  const wrong = () => complaintsOf(form, (one) => values.text(one)).map(({ path }) => path);
  expect(parse(at('n_steps'), '999').complaint).toBe('From 1,000 to 1,000,000.');
  type('n_steps', '999.5');
  type('learning_rate', '2');
  type('tag', 'sixsix');
  type('kind', 'liner');
  expect(wrong()).toEqual(['n_steps', 'learning_rate', 'tag', 'kind']);
  expect(parse(at('tag'), 'sixsix').complaint).toBe('At most 5 letters.');
});

test('what must be given is missed until it is', () => {
  const needed = ['string', 'integer', 'choice'] as const;
  const { form, values, type } = typing({
    ...TRAINER,
    arguments: needed.map((type) => argument(type, { type, required: true, choices: ['a'] })),
  });
  const wrong = () => complaintsOf(form, (one) => values.text(one)).map(({ path }) => path);
  expect(wrong()).toEqual(['string', 'integer', 'choice']);
  type('string', 'x');
  type('integer', '1');
  type('choice', 'a');
  expect([wrong(), values.config]).toEqual([[], { string: 'x', integer: 1, choice: 'a' }]);
});

test('a run can be made again with other arguments', () => {
  const config = {
    trainer_id: 'cem',
    env_id: 'CartPole-v1',
    arguments: { n_steps: 5000, tag: 'a' },
  };
  const again = againOf(config);
  expect(again).toEqual({
    trainer: 'cem',
    env: 'CartPole-v1',
    'arg.n_steps': '5000',
    'arg.tag': 'a',
  });
  const { at } = typing();
  expect(fromAddress(new URLSearchParams(again ?? {}), at('n_steps'))).toBe('5000');
  expect(fromAddress(new URLSearchParams('tag=x'), at('tag'))).toBeNull();
  expect([againOf(null), againOf({ env_id: 'x', command: ['sh'] })]).toEqual([null, null]);
});

test('a seed is a whole number or nothing', () => {
  expect([parseSeed(' '), parseSeed('7')]).toEqual([{}, { seed: 7 }]);
  for (const text of ['-1', '1.5', 'x', '9'.repeat(20)])
    expect(parseSeed(text).complaint, text).toBeTruthy();
});

test('the example is what the lab reads', () => {
  expect(Object.keys(JSON.parse(EXAMPLE).trainers.cem)).toEqual([
    'title',
    'env_id',
    'command',
    'folder',
    'arguments',
  ]);
});
