import { afterAll, beforeAll, expect, it } from 'vitest';
import { onNamed } from '../../../src/chain/networks.ts';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { readReserves } from '../../../src/payments/statements/read-reserves.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { transferUsdc } from '../../support/chain-actions.ts';
import { newWallet, type TestWallet } from '../../support/harness.ts';
import { createRestorableNode, type RestorableNode } from '../../support/restorable-node.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { payOn, postedOf } from '../../support/two-networks.ts';
import { until } from '../../support/until.ts';

const NETWORK = 'eip155:84532';
const env: Record<string, string | undefined> = { CHAIN_RPC_URL: undefined };

let node: RestorableNode;
let agent: TestAgent;
let lost: TestDatabase;
let restored: TestDatabase;
let key: string;
let treasuryId: string;
const wallets: TestWallet[] = [];

const assets = () => both().map(({ chain }) => `${NETWORK}/erc20:${chain.token}`);
const both = () =>
  [node.ctx, onNamed(node.ctx, `${NETWORK}/erc20:0x7e57d0117e57d0117e57d0117e57d0117e57d011`)].filter(
    (ctx) => ctx !== null,
  );
const names = () => [treasuryId, `${treasuryId}@${assets()[1]}`];
const posted = (id: string) => postedOf({ ctx: node.ctx } as Parameters<typeof postedOf>[0], id);

beforeAll(async () => {
  node = await createRestorableNode(await freePort(0), env);
  env.NETWORKS = JSON.stringify([{ id: NETWORK, rpcUrls: [node.chain.rpcUrl], tokens: ['USDC', 'TUSD'] }]);
  lost = await createTestDatabase();
  await node.startOn(lost.url);
  agent = await startTestAgent(node, { perRequest: '0.05' });
  ({ key } = await node.newAccount());
  treasuryId = (await node.request('POST', '/payments/treasury', { key, body: {} })).body.data.treasuryId;
  for (const [index, ctx] of both().entries()) {
    const wallet = await newWallet(node.chain.rpcUrl, ctx.chain.token, 10_000_000n);
    wallets.push(wallet);
    const body = { amount: '2.00', asset: assets()[index] };
    const path = '/payments/treasury/deposit';
    const headers = await payOn(ctx, wallet, await node.request('POST', path, { key, body }));
    expect((await node.request('POST', path, { key, body, headers })).status).toBe(200);
  }
  await node.stopNode();
  restored = await createTestDatabase(lost);
  await node.startOn(lost.url);
  await liveOn();
  await node.stopNode();
  await node.startOn(restored.url);
});
afterAll(async () => {
  await agent?.die();
  await node?.stop();
  await Promise.all([lost?.drop(), restored?.drop()]);
});

/** What the backup lacks: in each token a withdrawal of another amount, a payment that was refunded, and a plain transfer. */
async function liveOn(): Promise<void> {
  agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
  for (const [index, ctx] of both().entries()) {
    const { address: to } = wallets[index] as TestWallet;
    const body = { amount: ['0.25', '0.75'][index], asset: assets()[index], to };
    expect((await node.request('POST', '/payments/withdraw', { key, body })).body.status).toBe('success');
    const call = { key, body: { task: `in ${ctx.chain.tokenName}` }, headers: { 'x-payment-method': 'x402' } };
    const path = `/invoke/${agent.id}`;
    const headers = await payOn(ctx, wallets[index] as TestWallet, await node.request('POST', path, call));
    expect(
      (await node.request('POST', path, { ...call, headers: { ...call.headers, ...headers } })).body.data,
    ).toMatchObject({ refund: '0.05' });
    const held = 8_000_000n + ([250_000n, 750_000n][index] as bigint);
    await until(async () => (await ctx.usdc.balanceOf(to)) === held);
    const micro = [100_000n, 300_000n][index] as bigint;
    await transferUsdc(node.chain.rpcUrl, { ctx }, { from: to, to: ctx.chain.wallet, micro });
  }
  agent.behave(echo);
}

it('charges and credits what a restored database lacks in the token that it was in', async () => {
  await until(async () => both().length === 2);
  const suspense = both().map(
    (_, index) => `suspense:${wallets[index]?.address.toLowerCase()}${index === 0 ? '' : `@${assets()[1]}`}`,
  );
  await until(async () => (await posted(names()[0] ?? '')) === 1_750_000n);
  await until(async () => (await posted(names()[1] ?? '')) === 1_250_000n);
  await until(async () => (await posted(suspense[0] ?? '')) === 100_000n);
  await until(async () => (await posted(suspense[1] ?? '')) === 300_000n);
  const found = await askDatabase<{ token: string; state: string; micro: string }>(
    restored.url,
    `select token, state, value_micro::text as micro from found_payout order by token, value_micro`,
  );
  expect(found).toEqual(
    both().flatMap(({ chain: { token } }, index) => [
      { token, state: 'booked', micro: '50000' },
      { token, state: 'booked', micro: ['250000', '750000'][index] },
    ]),
  );
  expect(await contradictions(restored.url)).toEqual([]);
  for (const ctx of both()) expect(await readReserves(ctx)).toMatchObject({ driftMicro: 0n, lossMicro: 0n });
  for (const asset of assets()) {
    const body = { amount: '1.00', asset, to: wallets[0]?.address };
    expect((await node.request('POST', '/payments/withdraw', { key, body })).body.status).toBe('success');
  }
});
