import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['packages/service/test/support/global-setup.ts'],
    maxWorkers: 2,
    // Processes are killed and waited for in real time: a machine that is busy with something else gets a second try.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
