import { defineConfig } from 'vitest/config';

/** Browser tests against the real binary: one at a time, in order, with time to train. */
export default defineConfig({
  test: {
    include: ['tests/**/*.e2e.ts'],
    environment: 'node',
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // A busy machine is late; what never comes fails all the same.
    expect: { poll: { timeout: 10_000 } },
    // A busy machine can be later than any patience; who reads the log sees what was tried twice.
    retry: 1,
    maxWorkers: 1,
    fileParallelism: false,
    sequence: { concurrent: false },
  },
});
