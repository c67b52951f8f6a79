import { expect, test } from 'vitest';

import { csvName, csvOf } from './curve-csv';

test('a line for each value, and none is made up', () => {
  const curve = { step: [0, 2048], t: [1_577_836_800, 1_577_836_800.25], value: [1e-7, null] };
  expect(csvOf(curve)).toBe(
    [
      'step,wall_time,value',
      '0,2020-01-01T00:00:00.000Z,1e-7',
      '2048,2020-01-01T00:00:00.250Z,',
      '',
    ].join('\n'),
  );
  expect(csvOf({ step: [], t: [], value: [] })).toBe('step,wall_time,value\n');
});

test('what has no steps has no column of them', () => {
  const csv = csvOf({ t: [1_577_836_800, 1_577_836_805], value: [50.5, null] });
  expect(csv).toBe('wall_time,value\n2020-01-01T00:00:00.000Z,50.5\n2020-01-01T00:00:05.000Z,\n');
});

test.each([
  ['rollout/ep_rew_mean', 'r-abc123-rollout-ep_rew_mean.csv'],
  ['loss of "A", the first', 'r-abc123-loss-of-A-the-first.csv'],
])('the file of %s', (metric, name) => expect(csvName('r-abc123', metric)).toBe(name));
