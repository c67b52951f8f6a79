import { describe, expect, test } from 'vitest';

import { flatten, knobsOf, positionOf, settingIn, valueAt, written } from './knobs';

const SCHEMA = {
  properties: {
    env_id: { const: 'CartPole-v1' },
    trainer: {
      properties: {
        learning_rate: {
          type: ['number', 'string'],
          minimum: 1e-6,
          maximum: 1,
          title: 'Learning rate',
          default: 0.0003,
          'x-path': 'trainer.learning_rate',
          'x-scale': 'log',
          'x-tunable': { exclusiveMinimum: 0, maximum: 1 },
        },
        target_kl: {
          type: ['number', 'null'],
          minimum: 1e-6,
          maximum: 100,
          default: null,
          'x-path': 'trainer.target_kl',
          'x-tunable': false,
        },
        activation: { type: 'string', enum: ['tanh', 'relu'], 'x-path': 'trainer.activation' },
        net_arch: { type: 'array', 'x-path': 'trainer.net_arch' },
      },
    },
  },
};

describe('settings of a schema', () => {
  const knobs = knobsOf(SCHEMA);

  test('each with its kind and bounds', () => {
    expect(knobs.map(({ path, kind }) => [path, kind])).toEqual([
      ['trainer.learning_rate', 'number'],
      ['trainer.target_kl', 'number'],
      ['trainer.activation', 'choice'],
      ['trainer.net_arch', 'text'],
    ]);
    expect(knobs[0]?.tunable).toEqual({ low: 1e-6, high: 1 });
    expect(knobs[1]).toMatchObject({ nullable: true, tunable: null });
    expect(knobs[2]?.choices).toEqual(['tanh', 'relu']);
  });
});

describe('a slider', () => {
  const rate = { log: true, step: null, kind: 'number' } as const;
  const bounds = { low: 1e-6, high: 1 };

  test('goes from one bound to the other', () => {
    expect([0, 0.5, 1].map((at) => valueAt(at, bounds, rate))).toEqual([1e-6, 0.001, 1]);
    expect(positionOf(0.001, bounds, true)).toBeCloseTo(0.5);
    expect(positionOf(5, bounds, true)).toBe(1);
  });

  test('keeps to its steps and to whole numbers', () => {
    const clip = { log: false, step: 0.01, kind: 'number' } as const;
    expect(valueAt(0.333, { low: 0.05, high: 0.3 }, clip)).toBe(0.13);
    const every = { log: true, step: 1000, kind: 'integer' } as const;
    expect(valueAt(0.5, { low: 1000, high: 1e7 }, every)).toBe(100_000);
  });
});

test('values as they are written', () => {
  expect([0.0003, 1e-6, 50_000, null, true, 'lin_0.1', [64, 64]].map(written)).toEqual([
    '0.0003',
    '0.000001',
    '50,000',
    'none',
    'on',
    'lin_0.1',
    '[64,64]',
  ]);
});

test('paths into a configuration', () => {
  const config = { env: {}, trainer: { gamma: 0.9, net_arch: [64] } };
  expect(settingIn(config, 'trainer.gamma')).toBe(0.9);
  expect(settingIn(config, 'trainer.gamma.more')).toBeUndefined();
  expect(flatten(config)).toEqual([
    ['trainer.gamma', '0.9'],
    ['trainer.net_arch', '[64]'],
  ]);
});
