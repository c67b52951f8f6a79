import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';

const LAB = 'http://127.0.0.1:8080';
/** What the frame of all pages is made of: code without styles. */
const SHARED =
  /\/src\/lib\/.*\.ts$|\/CopyButton\.svelte$|\/node_modules\/(svelte|@sveltejs|clsx|esm-env)\/|^\0/;
/** So many pages use what they all load. */
const SHARED_BY = 4;

export default defineConfig({
  plugins: [sveltekit()],
  server: {
    // `make dev`: pages from Vite, data from a running lab.
    proxy: {
      // The lab sees the page's own host, as its checks of origins expect.
      '/api': { target: LAB, ws: true },
      '/login': {
        target: LAB,
        bypass: (request) => (request.url?.includes('code=') ? undefined : request.url),
      },
    },
  },
  build: {
    target: 'es2022',
    rolldownOptions: {
      output: {
        // Code that pages share comes in a few pieces: a browser asks for six files at a time, and
        // dozens of small ones keep a page waiting. What the frame needs is in the first piece.
        // Components are in another, which the frame does not load, so that their styles come after
        // those of the whole app, which they refine. Charts are heavy, and few pages have them.
        codeSplitting: {
          groups: [
            { name: 'shared', test: SHARED, minShareCount: SHARED_BY, priority: 3 },
            { name: 'parts', test: /\/src\/(?!lib\/chart\/)/, minShareCount: 2, priority: 2 },
            { name: 'charts', test: /\/(src\/lib\/chart|uplot)\//, priority: 1 },
          ],
        },
      },
    },
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
