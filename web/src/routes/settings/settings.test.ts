import { expect, test } from 'vitest';

import type { Token } from '$lib/api/types';

import { ends } from './settings';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test.each([
  [null, false, 'does not end'],
  ['2025-12-31T00:00:00Z', true, 'has ended'],
  ['2026-01-03T00:00:00Z', false, 'ends in 2 d'],
])('a token until %s', (expires_at, is_expired, text) => {
  expect(ends({ expires_at, is_expired } as Token, NOW)).toBe(text);
});
