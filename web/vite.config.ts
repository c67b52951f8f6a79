import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';

const LAB = 'http://127.0.0.1:8080';

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
  build: { target: 'es2022' },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
