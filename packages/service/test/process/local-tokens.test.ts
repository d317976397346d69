import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { type LocalNode, startLocalNode } from '../../src/local-mode.ts';
import { contradictions } from '../support/books.ts';
import { send } from '../support/harness.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { payOn } from '../support/two-networks.ts';
import { until } from '../support/until.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let dataDir: string;
let node: LocalNode;
const start = (env: Record<string, string> = {}, url = database.url, folder = dataDir) =>
  startLocalNode({
    ...readConfig({ PORT: '0', DATA_DIR: folder, DATABASE_URL: url, LOG_LEVEL: 'silent', ...env }),
    log: silentLog,
  });

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'local-tokens-'));
  node = await start({ LOCAL_TOKENS: 'USDC,TUSD' });
});
afterAll(async () => {
  await node.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
  await rm(`${dataDir}-joined`, { recursive: true, force: true });
});

const NETWORK = 'eip155:84532';
const ADDRESS = '0x7e57d0117e57d0117e57d0117e57d0117e57d011';
const payerOf = ({ localJson }: LocalNode) => privateKeyToAccount(localJson.wallets[0]?.privateKey as Hex);
const onTusd = ({ ctx }: LocalNode) => ctx.networks.find(({ chain }) => chain.token === ADDRESS) as typeof ctx;
const heldBy = (of: LocalNode) => onTusd(of).usdc.balanceOf(payerOf(of).address);
const call = ({ localJson }: LocalNode, headers: Record<string, string> = {}) =>
  send(localJson.baseUrl, 'POST', `/invoke/${localJson.agents[0]?.id}`, {
    ...{ key: localJson.apiKey, body: { task: 'hello' } },
    headers: { ...headers, 'x-sync': 'true' },
  });
const tokensOf = async ({ localJson }: LocalNode): Promise<{ symbol: string; state: string }[]> =>
  (await send(localJson.baseUrl, 'GET', '/payments/networks')).body.data.networks[0].tokens;
const signed = async (of: LocalNode) => payOn(onTusd(of), payerOf(of), await call(of));

it('LOCAL_TOKENS takes a second token, which the wallets of local.json hold; without it, its money waits for it', async () => {
  expect(node.localJson.chains).toMatchObject([{ id: 84_532, tokens: [{ symbol: 'USDC' }, { symbol: 'TUSD' }] }]);
  expect(await heldBy(node)).toBe(1_000_000_000n);
  expect(await call(node, await signed(node))).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
  const left = await heldBy(node);
  expect(left).toBeLessThan(1_000_000_000n);
  const late = await signed(node);

  await node.stop();
  node = await start();
  expect(await tokensOf(node)).toMatchObject([
    { symbol: 'USDC', state: 'open' },
    { symbol: 'TUSD', state: 'removed' },
  ]);
  const refused = await call(node, late);
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  expect(refused.body.error.message).toContain(`${NETWORK}/erc20:${ADDRESS}`);
  expect(await contradictions(database.url)).toEqual([]);

  await node.stop();
  node = await start({ LOCAL_TOKENS: 'USDC,TUSD' });
  await until(async () => (await tokensOf(node))[1]?.state === 'open');
  expect(await heldBy(node)).toBe(left);
  expect((await call(node, await signed(node))).status).toBe(200);
  expect(await contradictions(database.url)).toEqual([]);
});

it('NETWORKS in local mode takes the second token of a chain that another node has started', async () => {
  const others = await createTestDatabase();
  const rpcUrls = [node.localJson.chain.rpcUrl];
  const list = [{ id: NETWORK, rpcUrls, tokens: ['USDC', 'TUSD'] }];
  const joined = await start({ NETWORKS: JSON.stringify(list) }, others.url, `${dataDir}-joined`);
  try {
    await until(async () => (await tokensOf(joined))[1]?.state === 'open');
    expect((await call(joined, await signed(joined))).status).toBe(200);
  } finally {
    await joined.stop();
    await others.drop();
  }
});
