import { expect, test } from 'vitest';

import type { AuditEntry } from '$lib/api/types';

import { change, filtersOf, queryOf } from './audit';

test.each([
  [0.0003, 0.0001, '0.0003 → 0.0001'],
  [null, { name: 'ci', role: 'viewer' }, 'name ci, role viewer'],
  ['running', null, 'running → nothing'],
  [null, null, ''],
  [null, { config_sha256: 'a27376f331' + '0'.repeat(54) }, 'config_sha256 a27376f33100…'],
  [{ seeds: [1, 2] }, [3], 'seeds [1,2] → [3]'],
])('%j to %j', (old, now, text) => {
  expect(change({ old, new: now } as AuditEntry)).toBe(text);
});

test('long values are cut', () => {
  expect(change({ old: null, new: 'x'.repeat(200) } as AuditEntry)).toHaveLength(120);
});

test('the address and what is asked of the lab', () => {
  const filters = filtersOf(new URLSearchParams('actor=ada&run= &from=2026-03-01&page=2'));
  expect(filters).toEqual({ actor: 'ada', from: '2026-03-01' });
  expect(queryOf(filters)).toEqual({
    actor: 'ada',
    from: new Date('2026-03-01T00:00:00.000').toISOString(),
  });
  expect(queryOf({ to: 'yesterday' })).toEqual({ to: 'yesterday' });
});
