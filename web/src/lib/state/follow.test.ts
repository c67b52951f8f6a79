import { expect, test } from 'vitest';
import type { FeedMessage } from '$lib/api/types';

import { isMeasured } from './follow';

function check(message: object, expected: boolean) {
  expect(isMeasured(message as FeedMessage)).toBe(expected);
}

test('an evaluation that is over changes a board', () =>
  check({ type: 'RunProgress', run: { kind: 'eval', state: 'succeeded' } }, true));
test('one that goes on does not', () =>
  check({ type: 'RunProgress', run: { kind: 'eval', state: 'running' } }, false));
test('a training that is over does not', () =>
  check({ type: 'RunProgress', run: { kind: 'train', state: 'succeeded' } }, false));
test('a result does', () => check({ type: 'EvalResult', run_id: 'r-1' }, true));
test('a stream that was away may have missed one', () => check({ type: 'Snapshot' }, true));
