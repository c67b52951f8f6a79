import { expect, test } from 'vitest';

import { type Field, type Read, type Value, read, write } from './sections';

function check(kind: Field['kind'], empty: string | undefined, text: string, expected: Read) {
  const field: Field = { name: 'a', label: 'A', kind, help: '', ...(empty ? { empty } : {}) };
  expect(read(field, text), text).toEqual(expected);
}

test('what is typed becomes what the lab takes, and empty is none where none is allowed', () => {
  check('whole', 'all', '12,000', { value: 12_000 });
  check('whole', 'all', ' ', { value: null });
  check('whole', 'all', '1.5', { complaint: 'A whole number.' });
  check('whole', 'all', 'many', { complaint: 'A whole number.' });
  // Below 0 is for the lab to refuse, at the field.
  check('whole', 'all', '-1', { value: -1 });
  check('number', undefined, '0.05', { value: 0.05 });
  check('number', undefined, '1e-3', { value: 0.001 });
  check('number', undefined, '', { complaint: 'A number, 0 for nothing.' });
  check('number', undefined, '5 ms', { complaint: 'A number.' });
  check('text', undefined, ' EUR ', { value: 'EUR' });
  check('text', undefined, '', { value: '' });
  check('link', 'no link', '', { value: null });
  check('link', 'no link', 'https://a/{run_id}', { value: 'https://a/{run_id}' });
  check('size', 'no limit', '20 GB', { value: 20e9 });
  check('size', 'no limit', '1.5gib', { value: 1.5 * 2 ** 30 });
  check('size', 'no limit', '1000', { value: 1000 });
  check('size', 'no limit', '3 pounds', { complaint: 'A size, such as 500 MB or 20 GB.' });
});

test.each<[Value, string]>([
  [null, ''],
  [2 ** 30, '1 GiB'],
  [20e9, '20 GB'],
  [1.5e9, '1.5 GB'],
  [1_234_567, '1234567 B'],
  [0, '0 B'],
])('a size of %s is written as "%s"', (value, text) => {
  const field: Field = { name: 'a', label: 'A', kind: 'size', help: '', empty: 'no limit' };
  expect(write(field, value)).toBe(text);
  expect(read(field, text)).toEqual({ value });
});
