import { expect, test } from 'vitest';

import { Shows } from './shows.svelte';

function storage(): Pick<Storage, 'getItem' | 'setItem'> {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
  };
}

const NOTHING = { value: false, policy: false, numbers: false };
const ALL = { value: true, policy: true, numbers: true };

test('one just plays, and looks at everything afterwards', () => {
  const shows = new Shows(null);
  expect(shows.of(false)).toEqual(NOTHING);
  expect(shows.of(true)).toEqual(ALL);
});

test('what was chosen is kept, for during and after apart', () => {
  const kept = storage();
  const shows = new Shows(kept);
  shows.set(false, 'value', true);
  shows.toggle(true);
  expect(shows.of(false)).toEqual({ ...NOTHING, value: true });
  expect(shows.of(true)).toEqual(NOTHING);
  const later = new Shows(kept);
  expect(later.any(false)).toBe(true);
  expect(later.of(false)).toEqual(shows.of(false));
  expect(later.any(true)).toBe(false);
});

test('one key shows all, or nothing where there is something', () => {
  const shows = new Shows(storage());
  shows.toggle(false);
  expect(shows.of(false)).toEqual(ALL);
  shows.set(false, 'policy', false);
  shows.toggle(false);
  expect(shows.of(false)).toEqual(NOTHING);
});

test('a kept choice that cannot be read is none', () => {
  const kept = storage();
  kept.setItem('cartridge-shows', '{"during": [');
  expect(new Shows(kept).of(true)).toEqual(ALL);
});
