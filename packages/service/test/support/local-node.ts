import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalJson } from '../../src/compose/local/seed-local.ts';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { startLocalNode } from '../../src/local-mode.ts';
import { createTestDatabase } from './test-database.ts';

/** Starts a node as `npm start` does, example agents included, on a database of the test run. */
export async function startLocal(
  settings: Record<string, string> = {},
): Promise<{ local: LocalJson; dataDir: string; stop(): Promise<void> }> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-local-'));
  const env = {
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'silent',
    SEARCH_BY: 'words',
    ...settings,
  };
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
