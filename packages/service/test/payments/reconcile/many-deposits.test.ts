import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAccount } from '../../../src/accounts/open-account.ts';
import { createWalletReads } from '../../../src/chain/outgoing-transfer-client.ts';
import { findTreasuryOf } from '../../../src/payments/ledger/ledger-store.ts';
import { readTransfers } from '../../../src/payments/reconcile/read-transfers.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { sendAs, transferUsdc } from '../../support/chain-actions.ts';
import { type Engine, type Payer, startEngine } from '../../support/engine.ts';
import { leaveOutLogs } from '../../support/rpc-proxy.ts';

/** More than a transaction has sequences for events. */
const MANY = 4200;
let engine: Engine;
let ctx: Parameters<typeof readTransfers>[0];
beforeAll(async () => {
  engine = await startEngine();
  const { token, wallet } = engine.ctx.chain;
  ctx = {
    ...engine.ctx,
    ...createWalletReads({ rpcUrl: engine.proxy.url, token, wallet }),
    transferDepthBlocks: 1,
  };
  await engine.mine(2);
  await readTransfers(ctx);
});
afterAll(() => engine.stop());
afterEach(async () => {
  for (const method of ['eth_getLogs', 'eth_getBlockReceipts']) engine.proxy.rule(method, null);
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
});

async function accountOf({ address }: Payer): Promise<string> {
  const account = await openAccount(ctx, { address, plan: 'free', isWalletProven: true });
  return account.accountId;
}
const balanceOf = async (accountId: string) => (await findTreasuryOf(ctx.db, accountId))?.postedMicro ?? 0n;
const eventsOf = (accountId: string) =>
  askDatabase<{ type: string; data: { count: number; amount: string } }>(
    engine.databaseUrl,
    `select type, data from event where account_id = '${accountId}' order by sequence`,
  );

/** Rows of chain payments that were looked at, of which the server tells about a second later. */
const paymentRowsRead = async (): Promise<number> => {
  const [row] = await askDatabase<{ rows: string }>(
    engine.databaseUrl,
    "select idx_tup_fetch + seq_tup_read as rows from pg_stat_user_tables where relname = 'chain_payment'",
  );
  return Number(row?.rows);
};

/** A wallet with the code of Multicall3 sends the node so many transfers of the smallest amount in one transaction. */
async function sendMany({ address }: Payer, count: number): Promise<void> {
  const { token, wallet } = ctx.chain;
  const code = await callChain<Hex>(engine.chain.rpcUrl, 'eth_getCode', MULTICALL3_ADDRESS, 'latest');
  await callChain(engine.chain.rpcUrl, 'anvil_setCode', address, code);
  const callData = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [wallet as Hex, 1n] });
  const calls = Array.from({ length: count }, () => ({ target: token as Hex, allowFailure: false, callData }));
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
  await sendAs(engine.chain.rpcUrl, privateKeyToAddress(generatePrivateKey()), address, data, '0x1dcd6500');
}
const sendOne = ({ address }: Payer, micro: bigint) =>
  transferUsdc(engine.chain.rpcUrl, engine, { from: address, to: ctx.chain.wallet, micro });

it("a block with thousands of one account's deposits stops nobody's: all are credited, and few events tell of them", async () => {
  const [flooding, honest] = [await engine.newPayer(), await engine.newPayer()];
  const [floodingId, honestId] = [await accountOf(flooding), await accountOf(honest)];
  await sendMany(flooding, MANY);
  await sendOne(honest, 1_000_000n);
  expect(await readTransfers(ctx)).toBe(true);
  expect([await balanceOf(floodingId), await balanceOf(honestId)]).toEqual([BigInt(MANY), 1_000_000n]);
  const told = await eventsOf(floodingId);
  // One that is left for the last transaction has an event of its own.
  const countOf = { 'deposits.confirmed': (count: number) => count, 'payment.confirmed': () => 1 };
  expect(told.reduce((sum, { type, data }) => sum + countOf[type as keyof typeof countOf](data.count), 0)).toBe(MANY);
  expect(told.length).toBeLessThanOrEqual(MANY / 200 + 1);
  expect((await eventsOf(honestId)).map(({ type }) => type)).toEqual(['payment.confirmed']);
  await readTransfers(ctx);
  expect(await balanceOf(floodingId)).toBe(BigInt(MANY));
  await expect.poll(paymentRowsRead).toBeGreaterThan(MANY);
  // Each transfer is looked up, and not compared with all the others.
  expect(await paymentRowsRead()).toBeLessThan(100 * MANY);
});

const REFUSAL = 'query returned more than 10000 results';

it('a block whose logs the RPC node refuses to return is read from its receipts', async () => {
  const payer = await engine.newPayer();
  const accountId = await accountOf(payer);
  await sendMany(payer, 30);
  engine.proxy.rule('eth_getLogs', async ({ forward, refuse }) => {
    const answer = await forward();
    return JSON.parse(answer).result.length > 10 ? refuse(REFUSAL) : answer;
  });
  expect(await readTransfers(ctx)).toBe(true);
  expect(await balanceOf(accountId)).toBe(30n);
});

it('an RPC node that returns neither is named with its remedy, and a block is not skipped', async () => {
  const payer = await engine.newPayer();
  const accountId = await accountOf(payer);
  await sendOne(payer, 500_000n);
  engine.proxy.rule('eth_getLogs', ({ refuse }) => refuse(REFUSAL));
  engine.proxy.rule('eth_getBlockReceipts', ({ refuse }) => refuse('the method eth_getBlockReceipts does not exist'));
  await expect(readTransfers(ctx)).rejects.toThrow('name one in CHAIN_RPC_URL that does');
  engine.proxy.rule('eth_getBlockReceipts', ({ answer }) => answer([]));
  await expect(readTransfers(ctx)).rejects.toThrow('name one in CHAIN_RPC_URL that does');
  engine.proxy.rule('eth_getLogs', null);
  expect(await readTransfers(ctx)).toBe(true);
  expect(await balanceOf(accountId)).toBe(500_000n);
});

it('a deposit whose log an RPC node left out is credited with the next blocks, once', async () => {
  const [missed, other] = [await engine.newPayer(), await engine.newPayer()];
  const [missedId, otherId] = [await accountOf(missed), await accountOf(other)];
  leaveOutLogs(engine.proxy, 3);
  await sendOne(missed, 700_000n);
  await readTransfers(ctx);
  engine.proxy.rule('eth_getLogs', null);
  await sendOne(other, 300_000n);
  for (let run = 0; run < 3; run++) {
    await readTransfers(ctx);
    expect([await balanceOf(missedId), await balanceOf(otherId)]).toEqual([700_000n, 300_000n]);
    await engine.mine(40);
  }
});
