import { readdir } from 'node:fs/promises';

import { expect, test, vi } from 'vitest';

vi.mock('$app/navigation', () => ({ preloadCode: () => Promise.resolve() }));

test('every route is loaded ahead', async () => {
  const { EVERY_PAGE } = await import('./ahead');
  const files = await readdir('src/routes', { recursive: true });
  const routes = files
    .filter((file) => file.endsWith('+page.svelte'))
    .map((file) =>
      file
        .replace('+page.svelte', '')
        .replace(/\([^)]*\)\//, '')
        .replace(/\/$/, ''),
    );
  const patterns = routes.map((route) => new RegExp(`^/${route.replaceAll(/\[\w+\]/g, '[^/]+')}$`));
  const missed = routes.filter(
    (_, index) => !EVERY_PAGE.some((page) => patterns[index]?.test(page)),
  );
  expect(missed).toEqual([]);
});
