import { expect, test } from 'vitest';

import type { EvaluationJob } from '$lib/api/types';

import { type JobList, continued, renewed } from './job-list';

function list(ids: string, next_cursor: string | null = null): JobList {
  const evaluations = [...ids].map((id) => ({ run: { id } }) as EvaluationJob);
  return { evaluations, next_cursor };
}

function said({ evaluations, next_cursor }: JobList): string {
  return `${evaluations.map(({ run }) => run.id).join('')} ${next_cursor}`;
}

test.each([
  ['nothing was there', null, 'dcb', 'b', 'dcb b'],
  ['another has come', list('dcba'), 'edc', 'c', 'edcba null'],
  ['one is gone', list('dcba', 'a'), 'db', 'b', 'dba a'],
  ['nothing was loaded beyond', list('edc', 'c'), 'edc', 'c', 'edc c'],
  ['one has moved off it', list('dcb', 'b'), 'edc', 'c', 'edcb b'],
  ['all of the page is new', list('cba'), 'fed', 'd', 'fed d'],
  ['none is left', list('a'), '', null, ' null'],
])('the first page comes anew where %s', (_, before, ids, cursor, expected) => {
  expect(said(renewed(before, list(ids, cursor)))).toBe(expected);
});

test('a page that follows adds what is not there yet', () => {
  expect(said(continued(list('edc', 'c'), list('cba', null)))).toBe('edcba null');
});
