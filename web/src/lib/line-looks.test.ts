import { expect, test } from 'vitest';

import { looksOfColors } from './line-looks';

test('a colour that comes again has other strokes', () => {
  const looks = looksOfColors(['red', 'blue', 'red', 'red']);
  expect(looks.map(({ color }) => color)).toEqual(['red', 'blue', 'red', 'red']);
  expect(looks[0]?.dash).toEqual([]);
  expect(looks[1]?.dash).toEqual([]);
  const dashes = [looks[0], looks[2], looks[3]].map((look) => String(look?.dash));
  expect(new Set(dashes).size).toBe(3);
});
