import { BATCH_EXECUTOR_ADDRESS } from '@agent-network/chain/batch-executor';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type Hex, parseTransaction } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { signTransaction } from '../../../src/chain/keys/signer.ts';
import type { NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { openTransaction } from '../../../src/payments/chain-outbox/open-transaction.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { resendTransactions } from '../../../src/payments/reconcile/resend-transactions.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { type Engine, startEngine } from '../../support/engine.ts';

const SEND = 'eth_sendRawTransaction';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterEach(async () => {
  engine.proxy.rule(SEND, null);
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
});
afterAll(() => engine.stop());

/** Answers the first sends as a chain that takes them, and forgets them. Answers what it was given. */
function swallow(count: number): Hex[] {
  const swallowed: Hex[] = [];
  engine.proxy.rule(SEND, (call) => {
    if (swallowed.length >= count) return call.forward();
    swallowed.push(call.params[0] as Hex);
    return call.answer(`0x${'0'.repeat(64)}`);
  });
  return swallowed;
}

async function claimOne(): Promise<NewChainPayment> {
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  return payment;
}

const transactionsOf = ({ id }: NewChainPayment) =>
  askDatabase<{ nonce: string; state: string; raw: Hex; isPayments: boolean }>(
    engine.databaseUrl,
    `select t.nonce::text, t.state, t.raw, t.hash = p.transaction_hash as "isPayments"
       from chain_payment p join chain_transaction own on own.hash = p.transaction_hash
       join chain_transaction t on t.signer = own.signer and t.nonce = own.nonce
      where p.id = $1 order by t.created_at`,
    [id],
  );

/** Leaves a payment to the reconciler, with its one transaction swallowed by the chain. */
async function strand(): Promise<NewChainPayment> {
  const payment = await claimOne();
  const process = await engine.anotherProcess();
  const sent = Promise.withResolvers<void>();
  engine.proxy.rule(SEND, ({ answer }) => {
    sent.resolve();
    return answer(`0x${'0'.repeat(64)}`);
  });
  const unknown = process.settler.settle(payment);
  await sent.promise;
  await process.settler.stop(0);
  expect(await unknown).toMatchObject({ state: 'unknown' });
  return payment;
}

const inSeconds = (seconds: number) => ({
  ...engine.ctx,
  clock: { now: () => new Date(Date.now() + seconds * 1000) },
});

/** Somebody else sends a transaction of the wallet's key under this nonce. */
async function sendForeign(nonce: bigint): Promise<void> {
  const { chain, fees, wallet } = engine.ctx;
  const call = { chainId: chain.chainId, nonce, to: wallet.address as Hex, data: '0x' as Hex, gas: 100_000n };
  const { raw } = await signTransaction(wallet, { ...call, ...(await fees.current()) });
  await callChain(engine.chain.rpcUrl, SEND, raw);
}

it('a foreign transaction in place of one that delegates, which takes two nonces, leaves no gap behind which the key waits', async () => {
  const { ctx } = engine;
  const [sender] = ctx.senders;
  if (!sender) throw new Error('the engine has a key that sends');
  const call = { to: sender.address as Hex, data: '0x' as Hex, gas: 100_000n };
  const fees = await ctx.fees.current();
  const open = await openTransaction(ctx, {
    signers: [sender.address],
    call: { ...call, delegateTo: BATCH_EXECUTOR_ADDRESS },
    fees,
    lease: { holder: 'nobody else', leaseMs: 0 },
    record: async () => undefined,
    beforeCommit: () => undefined,
  });
  if (!open) throw new Error('the key was free');
  await sendForeign(open.nonce);
  await resendTransactions(inSeconds(31));
  const payment = await claimOne();
  expect(await ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
});

it('a transaction that no block takes is signed again under its nonce, for at least 12.5 % more, and settles', async () => {
  const swallowed = swallow(1);
  const payment = await claimOne();
  expect(await engine.ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  const transactions = await transactionsOf(payment);
  expect(transactions.map(({ state, isPayments }) => [state, isPayments])).toEqual([
    ['replaced', false],
    ['mined', true],
  ]);
  const [before, after] = transactions.map(({ raw }) => parseTransaction(raw));
  expect(transactions[0]?.raw).toBe(swallowed[0]);
  expect(after).toMatchObject({ nonce: before?.nonce, to: before?.to, data: before?.data });
  expect((after?.maxFeePerGas ?? 0n) * 8n).toBeGreaterThanOrEqual((before?.maxFeePerGas ?? 0n) * 9n);
  expect((after?.maxPriorityFeePerGas ?? 0n) * 8n).toBeGreaterThanOrEqual((before?.maxPriorityFeePerGas ?? 0n) * 9n);
});

it('the reconciler does so for a key without a process', async () => {
  const payment = await strand();
  swallow(0);
  await reconcilePayments(inSeconds(7), 60_000);
  expect((await transactionsOf(payment)).map(({ state }) => state)).toEqual(['sent', 'sent']);
  await reconcilePayments(inSeconds(9), 0);
  expect(await engine.stateOf(payment)).toBe('settled');
});

it('the one before is mined after all: it is recorded, and the key is free', async () => {
  const payment = await strand();
  const [first] = await transactionsOf(payment);
  await reconcilePayments(inSeconds(7), 60_000);
  await callChain(engine.chain.rpcUrl, SEND, first?.raw);
  await reconcilePayments(inSeconds(9), 0);
  expect((await transactionsOf(payment)).map(({ state }) => state)).toEqual(['mined', 'replaced']);
  expect(await engine.stateOf(payment)).toBe('settled');
  const next = await claimOne();
  engine.proxy.rule(SEND, null);
  expect(await engine.ctx.settler.settle(next)).toMatchObject({ state: 'settled' });
});

it('a nonce that somebody else used with the key is given up, and the payment goes under the next one', async () => {
  const payment = await strand();
  const [stuck] = await transactionsOf(payment);
  const { address } = engine.ctx.wallet;
  await callChain(engine.chain.rpcUrl, 'anvil_setNonce', address, `0x${(Number(stuck?.nonce) + 1).toString(16)}`);
  engine.proxy.rule(SEND, null);
  await reconcilePayments(inSeconds(40), 60_000);
  await reconcilePayments(inSeconds(40), 0);
  await engine.ctx.settler.idle();
  expect(await engine.stateOf(payment)).toBe('settled');
});

describe('behind an address of several RPC nodes', () => {
  const RECEIPT = 'eth_getTransactionReceipt';
  const inSecondsOfMany = (seconds: number) => {
    const later = inSeconds(seconds);
    return { ...later, chain: { ...later.chain, isLocal: false } };
  };
  const statesOf = async (payment: NewChainPayment) => (await transactionsOf(payment)).map(({ state }) => state);

  it('a transaction that waited long for its block is not given up while the node that is asked lacks the receipt', async () => {
    const payment = await strand();
    const [first] = await transactionsOf(payment);
    engine.proxy.rule(SEND, null);
    engine.proxy.rule(RECEIPT, ({ answer }) => answer(null));
    await callChain(engine.chain.rpcUrl, SEND, first?.raw);
    await engine.mine(3);
    await resendTransactions(inSecondsOfMany(40));
    expect(await statesOf(payment)).not.toContain('replaced');
    engine.proxy.rule(RECEIPT, null);
    await resendTransactions(inSecondsOfMany(40));
    expect(await statesOf(payment)).toContain('mined');
    await reconcilePayments(inSecondsOfMany(40), 0);
    expect(await engine.stateOf(payment)).toBe('settled');
  });

  it('a nonce that somebody else used is given up once 12 blocks are above its use', async () => {
    const payment = await strand();
    const [stuck] = await transactionsOf(payment);
    engine.proxy.rule(SEND, null);
    await sendForeign(BigInt(stuck?.nonce ?? 0));
    await engine.mine(11);
    await resendTransactions(inSecondsOfMany(40));
    expect(await statesOf(payment)).not.toContain('replaced');
    await engine.mine(1);
    await resendTransactions(inSecondsOfMany(40));
    expect(new Set(await statesOf(payment))).toEqual(new Set(['replaced']));
    await reconcilePayments(inSecondsOfMany(40), 0);
    await engine.ctx.settler.idle();
    await expect.poll(() => engine.stateOf(payment)).toBe('settled');
  });
});
