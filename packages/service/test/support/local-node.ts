import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { silentLog } from '../../src/lib/log/log.ts';
import type { LocalJson } from '../../src/local/seed-local.ts';
import { startLocalNode } from '../../src/local-mode.ts';
import { createTestDatabase } from './test-database.ts';

/** Starts a node as `npm start` does, example agents included, on a database of the test run. */
export async function startLocal(): Promise<{ local: LocalJson; dataDir: string; stop(): Promise<void> }> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-local-'));
  const env = { PORT: '0', DATA_DIR: dataDir, DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
  const node = await startLocalNode({ ...readConfig(env), log: silentLog });
  return {
    local: node.localJson,
    dataDir,
    async stop() {
      await node.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
