import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { WAIT_MS } from './packages/service/test/support/until.ts';
import { fastTempFolder } from './scripts/fast-temp-folder.ts';
import { LongestFirst } from './scripts/longest-first.ts';

const tempFolder = fastTempFolder();

export default defineConfig(({ mode }) => ({
  test: {
    provide: { isLong: mode === 'long' },
    include: ['packages/*/{src,test}/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['packages/service/test/support/global-setup.ts'],
    env: {
      // Made and removed by the global set-up.
      ...(tempFolder === undefined ? {} : { TMPDIR: tempFolder }),
      // Programs that tests start are read and stripped of types once: a third of the processor time of a short one.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/agent-network'),
    },
    // Slow files wait for half of their time. On two processors a fourth worker would take longer for everything, by the caches it
    // displaces. Each has its budget of database connections (packages/service/test/support/test-database.ts).
    maxWorkers: availableParallelism() > 2 ? 4 : 3,
    // Tests of a file that run beside each other wait for most of their time.
    maxConcurrency: 20,
    // A process for each file would spend half of the whole time on loading the same modules. No file changes what others see.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Limits for what never comes, not for what comes late on a machine that is busy. No test is tried again.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: WAIT_MS } },
  },
}));
