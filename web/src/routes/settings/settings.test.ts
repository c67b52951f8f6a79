import { expect, test } from 'vitest';

import type { Storage, Token } from '$lib/api/types';

import { ends, limitRows } from './settings';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test.each([
  [null, false, 'does not end'],
  ['2025-12-31T00:00:00Z', true, 'has ended'],
  ['2026-01-03T00:00:00Z', false, 'ends in 2 d'],
])('a token until %s', (expires_at, is_expired, text) => {
  expect(ends({ expires_at, is_expired } as Token, NOW)).toBe(text);
});

test('limits that are set, and those that are not', () => {
  const rows = limitRows({ keep_checkpoints: 5, max_bytes: 2e9 } as Storage['limits']);
  expect(rows.find(({ name }) => name === 'Checkpoints of a run')?.value).toBe('newest 5');
  expect(rows.find(({ name }) => name === 'Videos of a run')?.value).toBe('all');
  expect(rows.find(({ name }) => name === 'Everything')?.value).toBe('2 GB');
});
