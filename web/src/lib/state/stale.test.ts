import { expect, test } from 'vitest';
import { type Connection, live } from '$lib/api/live.svelte';
import type { Run } from '$lib/api/types';

import { healthOf, isStale } from './stale';

test.each([
  ['live', 'running', 'fresh', false, 'fresh'],
  ['live', 'running', 'stale', true, 'stale'],
  ['connecting', 'running', 'fresh', false, 'fresh'],
  ['reconnecting', 'running', 'fresh', true, 'stale'],
  ['reconnecting', 'running', 'dead', true, 'dead'],
  ['reconnecting', 'succeeded', 'fresh', false, 'fresh'],
] as [Connection, Run['state'], Run['health'], boolean, string][])(
  '%s, a run that is %s and %s',
  (connection, state, health, stale, word) => {
    live.connection = connection;
    expect(isStale({ state, health })).toBe(stale);
    expect(healthOf({ state, health })).toBe(word);
    live.connection = 'live';
  },
);
