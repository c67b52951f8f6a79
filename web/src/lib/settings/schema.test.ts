import { expect, test } from 'vitest';

import {
  type Setting,
  at,
  bound,
  nest,
  parse,
  position,
  range,
  readForm,
  slide,
  valueAt,
  write,
} from './schema';

const FORM = readForm({
  title: 'PPO on CartPole-v1',
  properties: {
    env_id: { type: 'string', const: 'CartPole-v1' },
    env: {
      properties: {
        sutton: {
          type: 'boolean',
          title: 'S',
          default: false,
          'x-path': 'env.sutton',
          'x-group': 'Environment',
        },
      },
    },
    trainer: {
      properties: {
        gamma: {
          type: 'number',
          minimum: 0.8,
          maximum: 0.9999,
          default: 0.99,
          'x-path': 'trainer.gamma',
          'x-group': 'Training',
          'x-step': 0.001,
          'x-order': 2,
        },
        learning_rate: {
          type: ['number', 'string'],
          pattern: '^lin_[0-9.]+(e-?[0-9]+)?$',
          minimum: 1e-6,
          maximum: 1,
          default: 0.0003,
          'x-path': 'trainer.learning_rate',
          'x-group': 'Training',
          'x-scale': 'log',
          'x-order': 0,
          'x-tunable': { exclusiveMinimum: 0, maximum: 1 },
        },
        total_timesteps: {
          type: 'integer',
          minimum: 5000,
          maximum: 1e9,
          default: 1e6,
          'x-path': 'trainer.total_timesteps',
          'x-group': 'Training',
          'x-scale': 'log',
          'x-step': 1000,
          'x-order': 1,
        },
        target_kl: {
          type: ['number', 'null'],
          minimum: 1e-6,
          maximum: 100,
          default: null,
          'x-path': 'trainer.target_kl',
          'x-group': 'Training',
          'x-order': 3,
        },
        net_arch: {
          type: 'array',
          minItems: 1,
          maxItems: 3,
          items: { type: 'integer', minimum: 1, maximum: 1024 },
          default: [64, 64],
          'x-path': 'trainer.net_arch',
          'x-group': 'Training',
          'x-order': 4,
        },
        activation: {
          type: 'string',
          enum: ['tanh', 'relu'],
          default: 'tanh',
          'x-path': 'trainer.activation',
          'x-group': 'Training',
          'x-order': 5,
        },
      },
    },
  },
});

function setting(path: string): Setting {
  return FORM.settings.find((one) => one.path === path) as Setting;
}

test('settings come in their groups, those of the training first, each in its order', () => {
  expect(FORM.groups.map(({ name }) => name)).toEqual(['Training', 'Environment']);
  expect(FORM.groups[0]?.settings.map(({ path }) => path.split('.')[1])).toEqual([
    'learning_rate',
    'total_timesteps',
    'gamma',
    'target_kl',
    'net_arch',
    'activation',
  ]);
  expect(setting('trainer.learning_rate').tunable).toEqual({ min: 0, max: 1 });
  expect(setting('trainer.gamma').tunable).toBeNull();
});

test.each([
  ['trainer.learning_rate', '3e-4', 0.0003],
  ['trainer.learning_rate', 'lin_0.001', 'lin_0.001'],
  ['trainer.total_timesteps', '1,000,000', 1_000_000],
  ['trainer.target_kl', '', null],
  ['trainer.net_arch', '64, 32', [64, 32]],
  ['trainer.activation', 'relu', 'relu'],
  ['env.sutton', 'true', true],
])('%s takes "%s"', (path, text, value) => {
  expect(parse(setting(path), text)).toEqual({ value });
});

test.each([
  ['trainer.learning_rate', 'much', 'Not a number.'],
  ['trainer.learning_rate', '5', 'From 0.000001 to 1.'],
  ['trainer.learning_rate', '', 'Not a number.'],
  ['trainer.total_timesteps', '5000.5', 'A whole number, please.'],
  ['trainer.total_timesteps', '10', 'From 5,000 to 1,000,000,000.'],
  ['trainer.net_arch', '', '1 to 3 numbers, separated by commas.'],
  ['trainer.net_arch', '64, 2000', 'From 1 to 1,024.'],
  ['trainer.activation', 'gelu', 'One of tanh, relu.'],
])('%s refuses "%s"', (path, text, complaint) => {
  expect(parse(setting(path), text)).toEqual({ complaint });
});

test('a field shows what it can read again', () => {
  for (const one of FORM.settings) {
    expect(parse(one, write(one, one.default))).toEqual({ value: one.default });
  }
});

test.each([
  ['trainer.gamma', 0, 0.8],
  ['trainer.gamma', 1, 0.9999],
  ['trainer.gamma', 0.5, 0.9],
  ['trainer.learning_rate', 0.5, 0.001],
  ['trainer.total_timesteps', 0.5, 2_236_000],
])('the slider of %s is at %s for %s', (path, share, value) => {
  expect(valueAt(setting(path), share)).toBe(value);
  expect(position(setting(path), value)).toBeCloseTo(share, 2);
});

test('a key moves a slider by a step, however small its notches are', () => {
  const gamma = setting('trainer.gamma');
  const at = Math.round(position(gamma, 0.98) * 1000);
  expect(slide(gamma, 0.98, at - 1, 1000)).toBe(0.979);
  expect(slide(gamma, 0.98, at + 1, 1000)).toBe(0.981);
  expect(slide(gamma, 0.98, 0, 1000)).toBe(0.8);
});

test('a schedule stands where it begins', () => {
  expect(position(setting('trainer.learning_rate'), 'lin_0.001')).toBeCloseTo(0.5);
});

test('bounds are readable', () => {
  expect([1e-6, 0.05, 1, 65536].map(bound)).toEqual(['0.000001', '0.05', '1', '65,536']);
  expect(range({ ...setting('trainer.gamma'), aboveMin: true, min: 0, max: null })).toBe('Above 0');
});

test('paths and sections are two ways of writing the same', () => {
  const config = nest([
    ['trainer.gamma', 0.98],
    ['trainer.net_arch', [32]],
    ['overrides_whitelist', ['trainer.gamma']],
  ]);
  expect(config).toEqual({
    trainer: { gamma: 0.98, net_arch: [32] },
    overrides_whitelist: ['trainer.gamma'],
  });
  expect(at(config, 'trainer.gamma')).toBe(0.98);
  expect(at(config, 'trainer.nothing.here')).toBeUndefined();
});
