import { callChain } from '@agent-network/chain/chain-rpc-client';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { owePayer } from '../../../src/payments/payouts/refund-payer.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { endSpent } from '../../../src/payments/settlement/end-spent.ts';
import { recordMined } from '../../../src/payments/settlement/record-mined.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { submitSigned } from '../../support/chain-actions.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { limitLogQueries } from '../../support/rpc-proxy.ts';
import { until } from '../../support/until.ts';

const TEN = 10_000_000n;

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({
    confirmations: [
      { fromMicro: 0n, depthBlocks: 1 },
      { fromMicro: TEN, depthBlocks: 3 },
    ],
  });
});
afterEach(async () => {
  await engine.ctx.settler.idle();
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
});
afterAll(() => engine.stop());

const claim = async (valueMicro: bigint): Promise<NewChainPayment> =>
  engine.claim(await engine.newPayer(valueMicro), { valueMicro });

const untilSpent = (payment: NewChainPayment) =>
  until(async () => (await engine.ctx.usdc.areSpent([payment.authorization]))[0]);

it('below the amount a payment is settled in its block, and waits for no larger one of the same transaction', async () => {
  const [lone, small, large] = [await claim(1n), await claim(TEN - 1n), await claim(TEN)];
  const { settler } = engine.ctx;
  const first = settler.settle(lone);
  const [ofSmall, ofLarge] = [settler.settle(small), settler.settle(large)];
  expect(await first).toMatchObject({ state: 'settled' });
  expect(await ofSmall).toMatchObject({ state: 'settled' });
  await untilSpent(large);
  expect(await engine.stateOf(large)).toBe('broadcasting');
  await engine.mine(2);
  expect(await ofLarge).toMatchObject({ state: 'settled' });
});

it('from the amount on it is not before its block is as deep', async () => {
  const payment = await claim(TEN);
  const settled = engine.ctx.settler.settle(payment);
  await untilSpent(payment);
  await engine.mine(1);
  await reconcilePayments(engine.ctx, 0);
  expect(await engine.stateOf(payment)).toBe('broadcasting');
  expect(await walletByBooks(engine.databaseUrl)).toBeLessThan(
    await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address),
  );
  await engine.mine(1);
  expect(await settled).toMatchObject({ state: 'settled' });
});

it('the reconciler finishes payments without a waiting process', async () => {
  const process = await engine.anotherProcess();
  const payment = await claim(TEN);
  const settled = process.settler.settle(payment);
  await untilSpent(payment);
  await process.settler.stop(200);
  expect(await settled).toMatchObject({ state: 'unknown' });
  await engine.mine(2);
  await reconcilePayments(engine.ctx, 0);
  expect(await engine.stateOf(payment)).toBe('settled');
});

describe('an RPC node that answers for few blocks at a time keeps no payment open', () => {
  beforeAll(async () => {
    await engine.mine(600);
    limitLogQueries(engine.proxy, 500n);
  });
  afterAll(() => engine.proxy.rule('eth_getLogs', null));

  it('that this node has sent', async () => {
    const payment = await claim(TEN);
    const settled = engine.ctx.settler.settle(payment);
    await untilSpent(payment);
    await engine.mine(2);
    expect(await settled).toMatchObject({ state: 'settled' });
  });

  it('that somebody else submitted, many blocks ago', async () => {
    const payment = await claim(TEN);
    await submitSigned(engine.chain.rpcUrl, engine, payment);
    await engine.mine(600);
    await reconcilePayments(engine.ctx, 0);
    expect(await engine.stateOf(payment)).toBe('settled');
  });
});

it('what the node has paid is not settled without its block while the logs of the chain are behind', async () => {
  const { ctx } = engine;
  const payer = await engine.newPayer();
  const paidIn = await engine.claim(payer);
  await ctx.settler.settle(paidIn);
  await ctx.db.transaction((tx) =>
    owePayer(ctx, tx, {
      requestId: paidIn.subjectId,
      accountId: null as never,
      ledgerAccountId: paidIn.ledgerAccountId,
      address: payer.address,
      amountMicro: 1_000_000n,
    }),
  );
  const refund = await engine.signedRefundOf(paidIn);
  await submitSigned(engine.chain.rpcUrl, engine, refund);
  engine.proxy.rule('eth_getLogs', ({ answer }) => answer([]));
  await reconcilePayments(engine.ctx, 0);
  expect(await engine.stateOf(refund)).toBe('claimed');
  engine.proxy.rule('eth_getLogs', null);
  await reconcilePayments(engine.ctx, 0);
  const [row] = await askDatabase<{ state: string; block: string | null }>(
    engine.databaseUrl,
    'select state, block_hash as block from chain_payment where id = $1',
    [refund.id],
  );
  expect(row).toEqual({ state: 'settled', block: expect.stringMatching(/^0x/) });
});

describe('a payment in a block that a reorg removes while the chain is asked how deep it is, is not settled', () => {
  /** Empty blocks in the place of the newest, and as many above it as the amount asks for. */
  async function removeNewest(): Promise<void> {
    await callChain(engine.chain.rpcUrl, 'anvil_rollback', 1);
    await callChain(engine.chain.rpcUrl, 'evm_increaseTime', 1);
    await engine.mine(3);
  }

  async function settleAgain(payment: NewChainPayment): Promise<void> {
    await submitSigned(engine.chain.rpcUrl, engine, payment);
    await engine.mine(2);
    await reconcilePayments(engine.ctx, 0);
    expect(await engine.stateOf(payment)).toBe('settled');
  }

  it('by the logs that show its use', async () => {
    const { ctx } = engine;
    const payment = await claim(TEN);
    await submitSigned(engine.chain.rpcUrl, engine, payment);
    const findSpent: typeof ctx.usdc.findSpent = async (...asked) => {
      const found = await ctx.usdc.findSpent(...asked);
      await removeNewest();
      return found;
    };
    const open = { ...payment, createdAt: ctx.clock.now(), transactionHash: null };
    expect(await endSpent({ ...ctx, usdc: { ...ctx.usdc, findSpent } }, open)).toBe(null);
    expect(await engine.stateOf(payment)).toBe('claimed');
    await settleAgain(payment);
  });

  it('by the receipt of its transaction', async () => {
    const { ctx } = engine;
    const payment = await claim(TEN);
    const hash = await submitSigned(engine.chain.rpcUrl, engine, payment);
    const mined = await ctx.usdc.findMined([hash]);
    if (!mined) throw new Error('the transaction is mined');
    await removeNewest();
    expect(await recordMined(ctx, [payment], mined)).toMatchObject([{ state: 'confirming' }]);
    expect(await engine.stateOf(payment)).toBe('claimed');
    await settleAgain(payment);
  });
});

it('a payment whose account another transaction has locked is settled once that ends, without the reconciler', async () => {
  const payment = await engine.claim(await engine.newPayer());
  const other = new pg.Client(engine.databaseUrl);
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from ledger_account where id = $1 for update', [payment.ledgerAccountId]);
    const settling = engine.ctx.settler.settle(payment);
    const isMined = async () =>
      (
        await askDatabase(
          engine.databaseUrl,
          `select from chain_transaction where state = 'mined' and hash =
        (select transaction_hash from chain_payment where id = $1)`,
          [payment.id],
        )
      ).length > 0;
    await until(isMined);
    expect(await engine.stateOf(payment)).toBe('broadcasting');
    await other.query('commit');
    expect(await settling).toMatchObject({ state: 'settled' });
  } finally {
    await other.end();
  }
  expect(await engine.stateOf(payment)).toBe('settled');
});
