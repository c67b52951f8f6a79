import { expect, test } from 'vitest';

import type { Pod } from '$lib/api/types';

import { cpu, groupPods } from './cluster';

const pod = (kind: string, run_id: string | null, more: Partial<Pod> = {}) =>
  ({ name: kind, kind, run_id, cpu_percent: null, cpu_seconds: null, ...more }) as Pod;

const PODS = [
  pod('lab', null),
  pod('supervisor', 'r-1'),
  pod('trainer', 'r-1'),
  pod('supervisor', 'r-2'),
];

test('processes by run', () => {
  const told = groupPods(PODS).map(({ runId, pods }) => [runId, pods.map(({ kind }) => kind)]);
  expect(told).toEqual([
    [null, ['lab']],
    ['r-1', ['supervisor', 'trainer']],
    ['r-2', ['supervisor']],
  ]);
  expect(groupPods(PODS, 'trainer').map(({ runId }) => runId)).toEqual(['r-1']);
});

test.each([
  [{ cpu_percent: 95.6 }, '96%'],
  [{ cpu_seconds: 1.14 }, '1.1 s used'],
  [{}, '–'],
])('cpu of %j', (more, text) => {
  expect(cpu(pod('trainer', 'r-1', more))).toBe(text);
});
