import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { until } from '../../src/lib/concurrency/until.ts';
import { silentLog } from '../../src/lib/log/log.ts';
import { startLocalNode } from '../../src/local-mode.ts';
import { createTestDatabase } from '../support/test-database.ts';

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

it('local.json is there, and whole, when /readyz says that the node is ready; all its agents are online then', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-ready-'));
  const port = await freePort();
  const env = { PORT: String(port), DATA_DIR: dataDir, DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
  const starting = startLocalNode({ ...readConfig(env), log: silentLog });
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const seen: (number | null)[] = [];
  const firstReady = await until(
    async () => {
      const status = await get('/readyz').then(
        ({ status }) => status,
        () => null,
      );
      seen.push(status);
      return status === 200 ? readFile(join(dataDir, 'local.json'), 'utf8').catch(String) : null;
    },
    { timeoutMs: 15_000, firstMs: 2, mostMs: 5 },
  );
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
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
}, 30_000);
