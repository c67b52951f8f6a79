import { expect, test } from 'vitest';

import type { Problem } from '$lib/api/types';

import { readForm } from './schema';
import { SettingsForm } from './settings-form.svelte';

const FORM = readForm({
  properties: {
    trainer: {
      properties: {
        gamma: { type: 'number', minimum: 0, maximum: 1, default: 0.99, 'x-path': 'trainer.gamma' },
        n_epochs: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 10,
          'x-path': 'trainer.n_epochs',
        },
      },
    },
  },
});
const [GAMMA, EPOCHS] = FORM.settings as [(typeof FORM.settings)[0], (typeof FORM.settings)[0]];

function typing() {
  return new SettingsForm(
    () => FORM,
    () => ({ trainer: { n_epochs: 20 } }),
  );
}

test('fields begin with the template, or else with the default', () => {
  const form = typing();
  expect([form.text(GAMMA), form.text(EPOCHS)]).toEqual(['0.99', '20']);
  expect(form.changes).toEqual([]);
});

test('what is right and differs is a change, what is wrong is not', () => {
  const form = typing();
  form.set(GAMMA, '0.5');
  form.set(EPOCHS, '0');
  expect(form.config).toEqual({ trainer: { gamma: 0.5 } });
  expect(form.wrong).toEqual([EPOCHS]);
  form.set(EPOCHS, '20');
  expect(form.wrong).toEqual([]);
  expect(form.typed).toEqual({ 'trainer.gamma': '0.5' });
});

test('complaints of the server stand at their field until it is changed', () => {
  const form = typing();
  const problem = {
    errors: [
      { pointer: '/config/trainer/n_epochs', detail: 'too many' },
      { pointer: '/name', detail: 'say a name' },
    ],
  } as Problem;
  expect(form.refuse(problem, '/config')).toEqual(['say a name']);
  expect(form.refused).toEqual({ 'trainer.n_epochs': 'too many' });
  form.set(EPOCHS, '3');
  expect(form.refused).toEqual({});
});
