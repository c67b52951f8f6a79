import { expect, test } from 'vitest';

import type { Series } from './api/types';
import { AGAINST_BEST, figure, strength } from './self-play';

const curvesOf = (values: Record<string, (number | null)[]>) =>
  new Map(
    Object.entries(values).map(([key, value]): [string, Series] => {
      const step = value.map((_, index) => index);
      return [key, { key, label: key, step, t: step, value }];
    }),
  );

test('what is known tells how strong it is: matches before a solver, a solver before losses', () => {
  const told = (values: Record<string, (number | null)[]>) => {
    const { label, value } = strength(curvesOf(values));
    return `${label} ${value}`;
  };
  expect(told({})).toBe('Policy loss –');
  const losses = { 'train/policy_loss': [1.9, 1.25] };
  expect(told(losses)).toBe('Policy loss 1.25');
  expect(told({ ...losses, 'solver/value_error': [0.4, 0.271] })).toBe('Value errors 27%');
  expect(told({ ...losses, 'arena/score_best': [0.75] })).toBe('Against the best 75%');
  expect(told({ ...losses, 'arena/score_best': [0.75], 'arena/elo': [-157.1, -77.3] })).toBe(
    'Rating -77',
  );
});

test('the newest value is the last that is a number', () => {
  const curves = curvesOf({ 'arena/score_best': [0.5, 0.625, null] });
  expect(figure(curves, AGAINST_BEST).value).toBe('62%');
  expect(figure(undefined, AGAINST_BEST).value).toBe('–');
});
