import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';

const LAB = 'http://127.0.0.1:8080';
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
        // Code that many pages share comes in one piece: a browser asks for six files at a time, and
        // dozens of small ones keep a page waiting. Components stay apart, so that their styles come
        // after those of the whole app, which they refine.
        codeSplitting: {
          groups: [{ name: 'shared', test: /\/src\/lib\/.*\.ts$/, minShareCount: SHARED_BY }],
        },
      },
    },
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
