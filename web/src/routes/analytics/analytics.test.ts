import { expect, test } from 'vitest';

import type { AnalyticsSummary, AnalyticsWindow } from '$lib/api/types';

import { cards, figure, measured, spokenCards, tickOf, trendOf } from './analytics';

const figures = (mean: number) => ({ n: 3, mean, min: mean - 1, max: mean + 1, last: mean });
const window = (window_id: number, values: Record<string, number>) =>
  ({
    window_id,
    from_step: (window_id - 1) * 100 + 1,
    to_step: window_id * 100,
    figures: Object.fromEntries(
      Object.entries(values).map(([name, mean]) => [name, figures(mean)]),
    ),
  }) as unknown as AnalyticsWindow;

const SUMMARY = {
  kpis: [
    {
      name: 'return',
      metric: 'rollout/ep_rew_mean',
      label: 'Episode reward',
      value: 21.5,
      step: 300,
    },
    { name: 'steps_per_sec', metric: 'time/fps', label: 'Steps', value: null, step: null },
  ],
} as unknown as AnalyticsSummary;

const WINDOWS = [window(1, { return: 10 }), window(2, { return: 8.5, steps_per_sec: 12000 })];

test.each([
  ['return', 3.25, ['+3.3', '']],
  ['survival', 0.875, ['87.5', '%']],
  ['steps_per_sec', 184_310, ['184k', '']],
  ['length', 123.4, ['123', '']],
  ['return', null, ['–', '']],
])('%s of %j', (name, value, text) => {
  expect(figure(name, value)).toEqual(text);
});

test('the newest figures when no window is chosen', () => {
  expect(cards(SUMMARY, undefined, undefined)).toMatchObject([
    { name: 'return', text: '+21.5', note: 'at step 300' },
    { name: 'steps_per_sec', text: '–', note: 'not measured' },
  ]);
});

test('a window against the one before', () => {
  expect(cards(SUMMARY, WINDOWS[1], WINDOWS[0])).toMatchObject([
    { text: '+8.5', note: '-1.5 against 1' },
    { text: '12k', unit: '', note: 'mean of the window' },
  ]);
  expect(cards(SUMMARY, WINDOWS[0], undefined)[1]).toMatchObject({ note: 'not measured in it' });
});

test('the trend has the windows in which it was measured', () => {
  expect(measured(WINDOWS)).toEqual(['return', 'steps_per_sec']);
  expect(trendOf(WINDOWS, 'return').map(({ step, mean }) => [step, mean])).toEqual([
    [100, 10],
    [200, 8.5],
  ]);
  expect(trendOf(WINDOWS, 'steps_per_sec').map(({ window_id }) => window_id)).toEqual([2]);
});

test.each([
  ['return', 0, '0'],
  ['return', -100, '-100'],
  ['survival', 0.5, '50%'],
])('a tick of %s at %d', (name, value, text) => {
  expect(tickOf(name, value)).toBe(text);
});

test('figures are said in a sentence, without those that nobody knows', () => {
  const said = (window?: AnalyticsWindow, isOld = false) =>
    spokenCards(cards(SUMMARY, window, undefined), window, isOld);
  expect(said()).toBe('Latest figures. Return +21.5.');
  expect(said(WINDOWS[1], true)).toBe('Iteration 2. They are old. Return +8.5, Steps/s 12k.');
  expect(said(window(3, {}))).toBe('Iteration 3. Nothing measured.');
});
