import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, encodeFunctionData, http } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SETTLEMENT_CONTRACT } from '../../../src/chain/channels/channel-calls.ts';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { needsOperator, reportRestore } from '../../../src/payments/reconcile/report-restore.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { sendAs } from '../../support/chain-actions.ts';
import { newWallet, type TestAccount, type TestWallet } from '../../support/harness.ts';
import { createRestorableNode, type RestorableNode } from '../../support/restorable-node.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { newVoucherPayer, requiredBy, type VoucherPayer } from '../../support/voucher-payer.ts';

const PRICE = 50_000n;
const DEPOSIT = 200_000n;
/** What a wallet has before it pays. */
const HELD = 1_000_000n;

/**
 * One story: channels, a backup, and then calls, a deposit, claims, a refund and a new channel that the backup lacks. The tests look at a
 * node that was started on the backup, with the same keys and the same chain.
 */
let node: RestorableNode;
let agent: TestAgent;
let account: TestAccount;
let lost: TestDatabase;
let restored: TestDatabase;
/** Pay on after the backup; get their rest back after it; are seen first after it. */
let [lasting, refunded, fresh]: VoucherPayer[] = [];
/** A channel that another than its payer has opened. */
let borrowed: VoucherPayer;
let stock: { readonly wallet: TestWallet; readonly call: () => Promise<Response> };
let calls = 0;

const known = (payer: VoucherPayer | undefined): VoucherPayer => payer as VoucherPayer;
const call = (headers: Record<string, string> = {}) =>
  node.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'x' }, headers });
const payUpTo = async (payer: VoucherPayer | undefined, sum: bigint) => call(known(payer).pay(await call(), sum));
const payWith = async (payer: VoucherPayer | undefined, sum: bigint, depositMicro: bigint) =>
  call(known(payer).pay(await call(), sum, { payload: await known(payer).deposit(depositMicro) }));
const askRefund = (headers: Record<string, string> = {}) => node.request('GET', `/invoke/${agent.id}`, { headers });
const onChain = async (payer: VoucherPayer | undefined) =>
  (await node.ctx.settlementContract.readChannels([known(payer).channelId], null))[0];
const rowOf = async (payer: string) => {
  const [row] = await askDatabase<Record<string, string>>(
    restored.url,
    'select balance_micro as balance, charged_micro as charged, claimed_micro as claimed from channel where payer = $1',
    [payer.toLowerCase()],
  );
  return row && Object.fromEntries(Object.entries(row).map(([name, micro]) => [name, Number(micro)]));
};
const suspenseOf = async (payer: string) => {
  const [row] = await askDatabase<{ micro: string }>(
    restored.url,
    'select posted_micro::text as micro from ledger_account where id = $1',
    [`suspense:${payer.toLowerCase()}`],
  );
  return Number(row?.micro ?? 0);
};
const addressOf = (payer: VoucherPayer | undefined) => known(payer).config.payer;

async function newPayer(): Promise<VoucherPayer> {
  const payer = newVoucherPayer(node);
  await newWallet(node.chain.rpcUrl, node.chain.usdc, HELD, payer.key);
  return payer;
}

/** The stock client, which keeps its own sums. */
async function newStockClient() {
  const wallet = await node.newWallet(HELD);
  const reader = createPublicClient({ transport: http(node.chain.rpcUrl) });
  const signer = {
    address: wallet.address,
    signTypedData: wallet.signTypedData,
    readContract: reader.readContract.bind(reader),
  };
  // biome-ignore lint/suspicious/noExplicitAny: the signer of the stock packages is narrower than viem's
  const scheme = new BatchSettlementEvmScheme(signer as any);
  const client = new x402Client().register(node.ctx.chain.caip2 as 'eip155:1', scheme);
  const pay = wrapFetchWithPayment(fetch, client);
  const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
  const request = () => ({ method: 'POST', headers, body: JSON.stringify({ task: 'x' }) });
  return { wallet, call: () => pay(`${node.baseUrl}/invoke/${agent.id}`, request()) };
}

beforeAll(async () => {
  node = await createRestorableNode(await freePort(0), { CHANNELS: 'true', CHANNEL_CLAIM_THRESHOLD: '100' });
  lost = await createTestDatabase();
  await node.startOn(lost.url);
  agent = await startTestAgent(node, { perRequest: '0.05' });
  account = await node.newAccount();
  [lasting, refunded, fresh] = await Promise.all([newPayer(), newPayer(), newPayer()]);
  stock = await newStockClient();
  expect((await payWith(lasting, PRICE, DEPOSIT)).status).toBe(200);
  expect((await payWith(refunded, PRICE, DEPOSIT)).status).toBe(200);
  expect((await stock.call()).status).toBe(200);
  await node.stopNode();
  restored = await createTestDatabase(lost);
  await node.startOn(lost.url);
  await liveOn();
  await node.stopNode();
  calls = agent.calls.length;
  await node.startOn(restored.url);
});
afterAll(async () => {
  await agent?.die();
  await node?.stop();
  await Promise.all([lost?.drop(), restored?.drop()]);
});

/** Code of a collector of deposits that takes nothing from the payer: it pays the contract out of its own pocket. */
const OWN_POCKET = `0x7fa9059cbb${'00'.repeat(28)}60005233600452604435602452602060006044600060006024355af100`;

/** A stranger pays for a channel whose payer is another wallet, and whose vouchers he signs. */
async function openInNameOf(payer: string): Promise<void> {
  const { rpcUrl, usdc } = node.chain;
  const [thief, collector] = [await newPayer(), `0x${'c0'.repeat(20)}` as const];
  const mint = { abi: testUsdcAbi, functionName: 'mint', args: [collector, DEPOSIT] } as const;
  await callChain(rpcUrl, 'anvil_setCode', collector, OWN_POCKET);
  await sendAs(rpcUrl, addressOf(thief), usdc, encodeFunctionData(mint));
  borrowed = newVoucherPayer(node, { key: thief.key, payer });
  const { withdrawDelayS: withdrawDelay, ...config } = borrowed.config;
  const channel = { ...config, withdrawDelay } as never;
  const deposit = {
    abi: batchSettlementAbi,
    functionName: 'deposit',
    args: [channel, DEPOSIT, collector, '0x'],
  } as const;
  await sendAs(rpcUrl, addressOf(thief), SETTLEMENT_CONTRACT, encodeFunctionData(deposit));
  expect(await onChain(borrowed)).toMatchObject({ balanceMicro: DEPOSIT });
}

/** What the backup lacks. Each claim makes the highest voucher of its channels public. */
async function liveOn(): Promise<void> {
  for (const nth of [2n, 3n, 4n]) {
    expect((await payUpTo(lasting, nth * PRICE)).status).toBe(200);
    await node.ctx.channelClaims.claim('payout');
  }
  expect((await payWith(lasting, 5n * PRICE, DEPOSIT)).status).toBe(200);
  expect((await payWith(fresh, PRICE, DEPOSIT)).status).toBe(200);
  for (const _ of [2, 3]) expect((await stock.call()).status).toBe(200);
  const refund = await askRefund(known(refunded).pay(await askRefund(), PRICE, { payload: { type: 'refund' } }));
  expect(refund.status).toBe(200);
  await openInNameOf((await node.newWallet(HELD)).address.toLowerCase());
  await node.ctx.channelClaims.claim('payout');
  expect(await node.usdcOf(addressOf(refunded))).toBe(HELD - PRICE);
  expect(await onChain(lasting)).toMatchObject({ balanceMicro: 2n * DEPOSIT, claimedMicro: 5n * PRICE });
}

const books = async () => {
  expect(await contradictions(restored.url)).toEqual([]);
  const { status, difference, loss } = (await node.request('GET', '/payments/reserves')).body.data;
  return { status, difference, loss };
};

describe('a node on a database that was restored to a time before vouchers, deposits, claims and refunds', () => {
  it('has the balances and claims of the contract before it takes a voucher', async () => {
    expect(await rowOf(addressOf(lasting))).toEqual({ balance: 400_000, charged: 250_000, claimed: 250_000 });
    expect(await rowOf(addressOf(refunded))).toEqual({ balance: 50_000, charged: 50_000, claimed: 50_000 });
    expect(await rowOf(stock.wallet.address)).toMatchObject({ charged: 150_000, claimed: 150_000 });
  });

  it('knows channels that were opened since, with what is left in them', async () => {
    expect(await rowOf(addressOf(fresh))).toEqual({ balance: 200_000, charged: 50_000, claimed: 50_000 });
  });

  it('takes no voucher of a channel that a stranger opened in the name of another wallet', async () => {
    expect(await rowOf(addressOf(borrowed))).toBeUndefined();
    const refused = await payUpTo(borrowed, PRICE);
    expect(refused.status).toBe(402);
    expect(agent.calls).toHaveLength(calls);
  });

  it('has credited to the payers what was claimed for calls that it does not know', async () => {
    expect(await suspenseOf(addressOf(lasting))).toBe(200_000);
    expect(await suspenseOf(addressOf(fresh))).toBe(50_000);
    expect(await suspenseOf(stock.wallet.address)).toBe(100_000);
    expect(await suspenseOf(addressOf(refunded))).toBe(0);
    expect(await books()).toEqual({ status: 'balanced', difference: '0.00', loss: '0.00' });
    expect(needsOperator(await reportRestore({ db: node.ctx.db }))).toBe(false);
  });

  it('refuses vouchers published by a claim since the backup, without disclosing the sum', async () => {
    for (const nth of [2n, 3n, 4n, 5n]) {
      const refused = await payUpTo(lasting, nth * PRICE);
      expect(refused.status).toBe(402);
      expect(requiredBy(refused).accepts[1].extra.channelState).toBeUndefined();
    }
    expect(agent.calls).toHaveLength(calls);
    expect(await suspenseOf(addressOf(lasting))).toBe(200_000);
  });

  it('is paid by the next voucher of each payer, also from a channel that it had lost', async () => {
    expect((await payUpTo(lasting, 6n * PRICE)).status).toBe(200);
    expect((await payUpTo(fresh, 2n * PRICE)).status).toBe(200);
    expect(await rowOf(addressOf(lasting))).toMatchObject({ charged: 300_000 });
  });

  it('is paid by the stock client, which goes on with its own sums', async () => {
    expect((await stock.call()).status).toBe(200);
    expect(await rowOf(stock.wallet.address)).toMatchObject({ charged: 200_000 });
  });

  it('claims what it charges from then on, and gives the rest back when it is asked to', async () => {
    await node.ctx.channelClaims.claim('payout');
    expect(await onChain(fresh)).toMatchObject({ claimedMicro: 2n * PRICE });
    const refund = await askRefund(known(lasting).pay(await askRefund(), 6n * PRICE, { payload: { type: 'refund' } }));
    expect(refund.status).toBe(200);
    expect(await onChain(lasting)).toMatchObject({ balanceMicro: 6n * PRICE, claimedMicro: 6n * PRICE });
    expect(await node.usdcOf(addressOf(lasting))).toBe(HELD - 6n * PRICE);
    expect(await books()).toEqual({ status: 'balanced', difference: '0.00', loss: '0.00' });
  });
});
