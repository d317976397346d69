import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LocalJson } from '../../src/compose/local/seed-local.ts';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { type LocalNode, startLocalNode } from '../../src/local-mode.ts';
import { type Answer, send } from '../support/harness.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { until } from '../support/until.ts';
import { paymentOf } from '../support/x402-payer.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let dataDir: string;
let node: LocalNode;
const start = (env: Record<string, string>, url = database.url, folder = dataDir) =>
  startLocalNode({
    ...readConfig({ PORT: '0', DATA_DIR: folder, DATABASE_URL: url, LOG_LEVEL: 'silent', ...env }),
    log: silentLog,
  });

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'local-chains-'));
  node = await start({ LOCAL_CHAINS: '2' });
});
afterAll(async () => {
  await node.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
  await rm(`${dataDir}-joined`, { recursive: true, force: true });
});

const OTHER = 'eip155:421614';
// biome-ignore lint/suspicious/noExplicitAny: a 402 answer of the node
const requiredIn = ({ headers }: Pick<Answer, 'headers'>): any =>
  JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString());

/** Pays for a call on the other chain with a wallet of `local.json`. */
async function payOnOther({ ctx, localJson }: LocalNode): Promise<Answer> {
  const { baseUrl, apiKey: key, agents, wallets } = localJson;
  const path = `/invoke/${agents[0]?.id}`;
  const body = { task: 'hello' };
  // The further network is open when its chain was compared.
  const unpaid = await until(async () => {
    const answer = await send(baseUrl, 'POST', path, { key, body });
    return requiredIn(answer).accepts.some(({ network }: { network: string }) => network === OTHER) && answer;
  });
  const required = requiredIn(unpaid);
  const accepts = required.accepts.filter(({ network }: { network: string }) => network === OTHER);
  const on = ctx.networks.find(({ chain }) => chain.caip2 === OTHER);
  const wallet = privateKeyToAccount(wallets[0]?.privateKey as Hex);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const payment = await paymentOf({ ctx: on } as any, wallet, { ...required, accepts });
  const headers = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64'), 'x-sync': 'true' };
  return send(baseUrl, 'POST', path, { key, body, headers });
}

const balanceOnOther = ({ ctx, localJson }: LocalNode) =>
  ctx.networks.find(({ chain }) => chain.caip2 === OTHER)?.usdc.balanceOf(localJson.wallets[0]?.address ?? '');

it('LOCAL_CHAINS starts several chains, on which the wallets of local.json pay, and which outlive a restart', async () => {
  const { chains, chain } = node.localJson;
  expect(chains.map(({ id }) => id)).toEqual([84_532, 421_614]);
  expect(chains[0]).toMatchObject({ rpcUrl: chain.rpcUrl, usdc: chain.usdc });
  expect(new Set(chains.map(({ wallet }) => wallet.toLowerCase()))).toEqual(new Set([node.ctx.chain.wallet]));
  const paid = await payOnOther(node);
  expect(paid).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
  const left = await balanceOnOther(node);
  expect(left).toBeLessThan(1_000_000_000n);

  const before: LocalJson['chains'] = chains;
  await node.stop();
  node = await start({ LOCAL_CHAINS: '2' });
  expect(node.localJson.chains).toEqual(before);
  await until(async () => (await balanceOnOther(node)) === left);
  expect((await payOnOther(node)).status).toBe(200);
});

it('NETWORKS in local mode joins chains and starts none', async () => {
  const others = await createTestDatabase();
  const list = node.localJson.chains.map(({ id, rpcUrl }) => ({ id: `eip155:${id}`, rpcUrls: [rpcUrl] }));
  const joined = await start({ NETWORKS: JSON.stringify(list) }, others.url, `${dataDir}-joined`);
  try {
    expect(joined.localJson.chains.map(({ id, rpcUrl }) => [id, rpcUrl])).toEqual(
      node.localJson.chains.map(({ id, rpcUrl }) => [id, rpcUrl]),
    );
    expect((await payOnOther(joined)).status).toBe(200);
  } finally {
    await joined.stop();
    await others.drop();
  }
});
