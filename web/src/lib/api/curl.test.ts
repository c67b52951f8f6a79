import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { curlOf, curlsOf } from './curl';

const AT = 'http://127.0.0.1:8080/api/runs';
const TOKEN = '-H "Authorization: Bearer $CARTRIDGE_TOKEN"';

test('what is read needs a token, and quotes where a shell would see more', () => {
  expect(curlOf({ method: 'GET', url: `${AT}?limit=1&q=a` })).toBe(
    `curl ${TOKEN} \\\n  '${AT}?limit=1&q=a'`,
  );
});

test('a change says how, has a key, and its body survives the shell', () => {
  const post = curlOf({ method: 'POST', url: AT, body: { name: "it's" } });
  expect(post).toMatch(/^curl -H "Auth/);
  expect(post).toContain('Idempotency-Key');
  expect(post).toContain(String.raw`-d '{"name":"it'\''s"}'`);
  expect(curlOf({ method: 'POST', url: AT })).toMatch(/^curl -X POST -H/);
  expect(curlOf({ method: 'PUT', url: AT, body: {} })).toMatch(/^curl -X PUT -H/);
});

test('what needs the id of what was made before gets it from the shell', () => {
  const text = curlsOf({ method: 'POST', url: AT, body: { name: "it's" } }, 'MADE', (id) => ({
    method: 'POST',
    url: `${AT}/next`,
    body: { of: id, name: 'a $MADE' },
  }));
  // A shell of its own in which `curl` prints the body that it is given, and an answer.
  const curl = `curl() { for it; do case "$it" in {*) echo "$it" >&2;; esac; done; echo '{"id":"e-1","of":{"id":"e-2"}}'; }`;
  const told = execFileSync('bash', ['-c', `${curl}\nexec 2>&1\n${text}`], { encoding: 'utf8' });
  expect(told.split('\n')).toContain(`{"of":"e-1","name":"a $MADE"}`);
});
