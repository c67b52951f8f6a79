import { expect, test } from 'vitest';

import { curlOf } from './curl';

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
