import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import pg from 'pg';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onNamed } from '../../src/chain/networks.ts';
import { freePort } from '../../src/compose/local/free-port.ts';
import { readReserves } from '../../src/payments/statements/read-reserves.ts';
import { contradictions } from '../support/books.ts';
import { newWallet, type TestWallet } from '../support/harness.ts';
import { createRestorableNode, type RestorableNode } from '../support/restorable-node.ts';
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { until } from '../support/until.ts';
import { paymentOf } from '../support/x402-payer.ts';

const OTHER = 421_614;
const env: Record<string, string | undefined> = { CHAIN_RPC_URL: undefined };

let other: LocalChain;
let proxy: RpcProxy;
let database: TestDatabase;
let node: RestorableNode;
let agent: TestAgent;
let payer: TestWallet;
beforeAll(async () => {
  other = await startLocalChain({ chainId: OTHER });
  proxy = await startRpcProxy(other.rpcUrl);
  database = await createTestDatabase();
  node = await createRestorableNode(await freePort(0), env);
  onNetworks(true);
  await node.startOn(database.url);
  agent = await startTestAgent(node, { perRequest: '0.05' });
  payer = await newWallet(other.rpcUrl, on().chain.token, 1_000_000n);
});
afterAll(async () => {
  await agent.die();
  await node.stop();
  await proxy.stop();
  await other.stop();
  await database.drop();
});

/** The networks of the next start: with the further one, or without. */
function onNetworks(hasOther: boolean): void {
  const first = { id: 'eip155:84532', rpcUrls: [node.chain.rpcUrl] };
  const second = { id: `eip155:${OTHER}`, rpcUrls: [proxy.url] };
  env.NETWORKS = JSON.stringify(hasOther ? [first, second] : [first]);
}

function on() {
  const found = onNamed(node.ctx, `eip155:${OTHER}`);
  if (!found) throw new Error('the node is not on the other network');
  return found;
}

/** From now on the further chain answers nothing, or again. */
function cut(isCut: boolean): void {
  for (const method of methods) proxy.rule(method, isCut ? () => null : null);
}
const methods = [
  ...['eth_blockNumber', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_call', 'eth_getLogs', 'eth_chainId'],
  ...['eth_sendRawTransaction', 'eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getTransactionCount'],
  ...['eth_getBalance', 'eth_gasPrice', 'eth_maxPriorityFeePerGas', 'eth_feeHistory', 'eth_estimateGas', 'eth_getCode'],
];

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
// biome-ignore lint/suspicious/noExplicitAny: a 402 answer of the node
const requiredIn = ({ headers }: { headers: Headers }): any =>
  JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString());

/** Headers that pay a 402 answer on the network of a context. */
async function payOn(ctx: unknown, wallet: TestWallet, unpaid: { headers: Headers }, caip2 = `eip155:${OTHER}`) {
  const required = requiredIn(unpaid);
  const accepts = required.accepts.filter((each: { network: string }) => each.network === caip2);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const payment = await paymentOf({ ctx } as any, wallet, { ...required, accepts });
  return { 'payment-signature': encode(payment) };
}

const readiness = async () => (await node.request('GET', '/readyz')).body;
const balanceOf = async (address: string): Promise<bigint> => {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt(await callChain<Hex>(other.rpcUrl, 'eth_call', { to: other.usdc, data }, 'latest'));
};

it('a chain that is away at the start stops no other; what is owed on it is signed and sent when it is back', async () => {
  const { key } = await node.newAccount();
  const path = `/invoke/${agent.id}`;
  const body = { task: 'x' };
  const called = Promise.withResolvers<void>();
  agent.behave(() => called.resolve());
  const headers = await payOn(on(), payer, await node.request('POST', path, { key, body }));
  const started = node.request('POST', path, { key, body, headers });
  await called.promise;
  const spare = await payOn(on(), payer, await node.request('POST', path, { key, body: { task: 'y' } }));
  // Who waits for the result is told the state when the process leaves.
  await node.stopNode();
  const { requestId } = (await started).body.data;

  cut(true);
  agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
  await node.startOn(database.url);
  expect(await readiness()).toMatchObject({
    status: 'ready',
    networks: [
      { id: 'eip155:84532', state: 'open' },
      { id: `eip155:${OTHER}`, state: 'away' },
    ],
  });
  const failed = await until(async () => {
    const { data } = (await node.request('GET', path.replace(agent.id, requestId), { key })).body;
    return data.status === 'failed' && data;
  });
  expect(failed).toMatchObject({ refund: '0.05' });
  const [refund] = await node.ctx.db.query<{ state: string; signature: string }>(
    'test-refund',
    `select state, signature from chain_payment where subject_id = $1 and purpose = 'refund'`,
    [requestId],
  );
  expect(refund).toMatchObject({ state: 'claimed', signature: '' });

  // A payment on it invites to no other one.
  const refused = await node.request('POST', path, { key, body: { task: 'y' }, headers: spare });
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  agent.behave(answerWith(200, { output: { ok: true } }));
  const here = await node.newWallet(1_000_000n);
  const unpaid = await node.request('POST', path, { key, body });
  const paid = { key, body, headers: await payOn(node.ctx, here, unpaid, 'eip155:84532') };
  expect((await node.request('POST', path, paid)).status).toBe(200);
  expect(await balanceOf(payer.address)).toBe(950_000n);

  cut(false);
  await until(async () => (await balanceOf(payer.address)) === 1_000_000n);
  expect((await readiness()).networks[1]).toMatchObject({ state: 'open' });
  const shown = async () => (await node.ctx.metrics.exposition('text')).text;
  await until(async () => /^settlement_halted\{network="eip155:421614"\} 0$/m.test(await shown()));
  expect(await shown()).toMatch(/^payment_network_open\{network="eip155:421614"\} 1$/m);
  expect(await shown()).toMatch(/^settlement_halted 0$/m);
  expect(await contradictions(database.url)).toEqual([]);
  expect(await readReserves(on())).toMatchObject({ driftMicro: 0n, lossMicro: 0n });
});

it('money on a network that the settings do not name any more can be read, and not moved', async () => {
  const { key } = await node.newAccount();
  await node.request('POST', '/payments/treasury', { key, body: {} });
  const deposit = { key, body: { amount: '0.50' } };
  const path = '/payments/treasury/deposit';
  const headers = await payOn(on(), payer, await node.request('POST', path, deposit));
  expect((await node.request('POST', path, { ...deposit, headers })).status).toBe(200);
  const [treasury] = await node.ctx.db.query<{ id: string }>(
    'test-treasury',
    `select id from ledger_account where kind = 'treasury' and asset is not null and posted_micro = 500000`,
    [],
  );
  const [asset, asset2] = (await node.request('GET', '/payments/networks')).body.data.networks.map(
    ({ tokens }: { tokens: { asset: string }[] }) => tokens[0]?.asset,
  );
  const reservesOf = async () => (await node.request('GET', '/payments/reserves')).body.data.assets;
  // A busy machine may read a chain too late: then it counts as away until it is read again.
  const open = await until(async () => {
    const assets = await reservesOf();
    return assets.some(({ status }: { status: string }) => status === 'away') ? null : assets;
  });
  expect(open).toMatchObject([
    { asset, network: 'eip155:84532', status: 'balanced' },
    { asset: asset2, network: `eip155:${OTHER}`, status: 'balanced', difference: '0.00', escrow: '0.00' },
  ]);
  expect(open[1].onChain).toBe(open[1].owed);
  await node.stopNode();

  onNetworks(false);
  await node.startOn(database.url);
  expect(await reservesOf()).toMatchObject([
    { asset, status: 'balanced' },
    { asset: asset2, status: 'removed', onChain: null, difference: null, owed: open[1].owed },
  ]);
  const { networks } = (await node.request('GET', '/payments/networks')).body.data;
  expect(networks).toMatchObject([
    { id: 'eip155:84532', name: 'base-sepolia', isDefault: true, settlers: ['own'], state: 'open' },
    { id: `eip155:${OTHER}`, name: 'arbitrum-sepolia', isDefault: false, schemes: [], state: 'removed' },
  ]);
  expect((await node.request('GET', '/payments/balance', { key })).body.data).toMatchObject({
    available: '0.00',
    network: 'base-sepolia',
    byAsset: [
      { asset, available: '0.00' },
      { asset: asset2, network: `eip155:${OTHER}`, available: '0.50', held: '0.00', pending: '0.00' },
    ],
  });
  expect(await readiness()).toMatchObject({
    status: 'ready',
    networks: [{ state: 'open' }, { id: `eip155:${OTHER}`, state: 'removed' }],
  });
  const id = treasury?.id ?? '';
  const shown = await node.request('GET', `/payments/treasury/${encodeURIComponent(id)}`, { key });
  expect(shown.body.data).toMatchObject({ balance: '0.50', network: 'arbitrum-sepolia' });
  const statement = await node.request('GET', `/payments/treasury/${encodeURIComponent(id)}/statement`, { key });
  expect(statement.status).toBe(200);
  const withdrawal = { amount: '0.25', treasuryId: id, to: payer.address };
  expect(await node.request('POST', '/payments/withdraw', { key, body: withdrawal })).toMatchObject({
    status: 503,
    body: { error: { code: 'UNAVAILABLE', message: expect.stringContaining('is closed') } },
  });
  expect(await contradictions(database.url)).toEqual([]);
});

it('no process of before keeps running, or starts, on the database of a node on several networks', async () => {
  await node.stopNode();
  onNetworks(true);
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    await client.query('update schema_migration set needs = null where version >= 143');
    await client.query(`insert into process (id, label, schema_version) values (gen_random_uuid(), 'old', 142)`);
    await expect(node.startOn(database.url)).rejects.toThrow(
      /on several networks, whose money versions before migration 143 take for one.*old/,
    );
    onNetworks(false);
    await node.startOn(database.url);
    const needs = 'select needs from schema_migration where version = 143';
    expect((await client.query(needs)).rows).toEqual([{ needs: null }]);
    await node.stopNode();
    await client.query(`delete from process where label = 'old'`);
    onNetworks(true);
    await node.startOn(database.url);
    expect((await client.query(needs)).rows).toEqual([{ needs: 143 }]);
  } finally {
    await client.end();
  }
});
