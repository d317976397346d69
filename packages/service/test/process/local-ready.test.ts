import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../src/compose/local/free-port.ts';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { startLocalNode } from '../../src/local-mode.ts';
import { askDatabase } from '../support/books.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { until } from '../support/until.ts';

it('local.json is there, and whole, when /readyz says that the node is ready; all its agents are online then', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-ready-'));
  const port = await freePort(0);
  const env = { PORT: String(port), DATA_DIR: dataDir, DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
  const starting = startLocalNode({ ...readConfig(env), log: silentLog });
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const seen: (number | null)[] = [];
  const firstReady = await until(async () => {
    const status = await get('/readyz').then(
      ({ status }) => status,
      () => null,
    );
    seen.push(status);
    return status === 200 ? readFile(join(dataDir, 'local.json'), 'utf8').catch(String) : null;
  });
  const agents = await Promise.all(
    JSON.parse(firstReady ?? '').agents.map(async ({ id }: { id: string }) =>
      (await get(`/agents/${id}/status`)).json(),
    ),
  );
  const node = await starting;
  expect(JSON.parse(firstReady ?? '')).toEqual(node.localJson);
  expect(agents.map(({ data }) => data.status)).toEqual(['online', 'online', 'online']);
  expect(seen).toContain(503);
  await node.stop();
  // A start asks whether its keys are still good; that is no use of them, which the first steps of a buyer are ticked by.
  const again = await startLocalNode({ ...readConfig(env), log: silentLog });
  expect(again.localJson.apiKey).toBe(node.localJson.apiKey);
  const used = 'select count(*)::int as keys from api_key where last_used_at is not null';
  expect(await askDatabase(database.url, used)).toEqual([{ keys: 0 }]);
  await again.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});
