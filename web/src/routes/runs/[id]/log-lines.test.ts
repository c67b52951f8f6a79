import { expect, test } from 'vitest';

import { movedBy } from './log-lines';

test.each([
  ['the same', ['a', 'b'], ['a', 'b'], 0],
  ['more below', ['a', 'b'], ['a', 'b', 'c'], 0],
  ['a tail that moves on', ['a', 'b', 'c'], ['b', 'c', 'd'], 1],
  ['lines alike', ['a', 'a', 'b'], ['a', 'b', 'a'], 1],
  ['nothing left', ['a', 'b'], ['c', 'd'], 2],
  ['a longer tail', ['c', 'd'], ['a', 'b', 'c', 'd'], 2],
  ['a shorter tail', ['a', 'b', 'c', 'd'], ['c', 'd'], 2],
  ['the first reading', [], ['a'], 0],
])('%s', (_, old, now, moved) => expect(movedBy(old, now)).toBe(moved));
