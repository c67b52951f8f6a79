import { readFile } from 'node:fs/promises';

import openapiTS, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';

const SNAPSHOT =
  '../crates/cartridge-server/src/snapshots/cartridge_server__tests__openapi_document.snap';
const HEADER = '// Generated from the OpenAPI document; run `npm run gen` to refresh.\n\n';

test('schema.ts matches the server', async () => {
  const snapshot = await readFile(SNAPSHOT, 'utf8');
  const document = JSON.parse(snapshot.slice(snapshot.indexOf('{')));
  const source = HEADER + astToString(await openapiTS(document));
  await expect(source).toMatchFileSnapshot('schema.ts');
});
