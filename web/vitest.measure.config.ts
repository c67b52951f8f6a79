import { defineConfig } from 'vitest/config';

/** Measurements of the pages, for a machine that does nothing else; see `benches/web.sh`. */
export default defineConfig({
  test: {
    include: ['tests/**/*.measure.ts'],
    environment: 'node',
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
    disableConsoleIntercept: true,
  },
});
