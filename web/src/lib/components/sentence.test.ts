import { render } from 'svelte/server';
import { expect, test } from 'vitest';

import Sentence from './Sentence.svelte';

test.each([
  ['nothing to mark', 'nothing to mark'],
  ['is `cartridge up` still running?', 'is <code>cartridge up</code> still running?'],
  ['`a` is no `b`', '<code>a</code> is no <code>b</code>'],
  ['a lonely ` stays', 'a lonely ` stays'],
  ['`<b>` is no tag', '<code>&lt;b></code> is no tag'],
])('%s', (text, html) => {
  const { body } = render(Sentence, { props: { text } });
  expect(body.replaceAll(/<!--.*?-->| class="[^"]*"/g, '')).toBe(html);
});
