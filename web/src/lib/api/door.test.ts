import { expect, test } from 'vitest';

import { Door, originOf } from './door';

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

test('at home nothing is added, elsewhere the address and the token', () => {
  const kept = storage();
  const door = new Door(kept);
  expect([door.url('/api/me'), door.headers()]).toEqual(['/api/me', {}]);
  door.enter('http://lab:8080', 'secret');
  const later = new Door(kept);
  expect(later.url('/api/me')).toBe('http://lab:8080/api/me');
  expect(later.headers()).toEqual({ authorization: 'Bearer secret' });
  later.leave();
  expect(new Door(kept).isElsewhere).toBe(false);
});

test('what somebody else kept under the name is nothing', () => {
  const kept = storage();
  kept.setItem('cartridge-lab', '{"origin": 3');
  expect(new Door(kept).isElsewhere).toBe(false);
});

test.each([
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  [' 127.0.0.1:8080/ ', 'http://127.0.0.1:8080'],
  ['https://lab.example/runs?x=1', 'https://lab.example'],
  ['lab.example', 'http://lab.example'],
  ['ftp://lab.example', null],
  ['', null],
  ['http://', null],
])('the origin of "%s" is %s', (address, origin) => expect(originOf(address)).toBe(origin));
