import { expect, test } from 'vitest';

import { nPairings } from './pairings';

test.each([
  ['round_robin', 4, 6],
  ['round_robin', 2, 1],
  ['gauntlet', 4, 3],
  ['gauntlet', 1, 0],
] as const)('a %s of %s players has %s pairings', (kind, nPlayers, expected) => {
  expect(nPairings(kind, nPlayers)).toBe(expected);
});
