import { callChain } from '@agent-network/chain/chain-rpc-client';
import { numberToHex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAccount } from '../../../src/access/accounts/open-account.ts';
import { newId } from '../../../src/lib/id.ts';
import { findLedgerAccount, OUTGOING, postTransfers } from '../../../src/payments/ledger/ledger-store.ts';
import type { ChainPayment, NewChainPayment } from '../../../src/payments/onchain/chain-payment.ts';
import { findById, findBySubject, insertChainPayments } from '../../../src/payments/onchain/chain-payment-store.ts';
import { failPayment } from '../../../src/payments/onchain/end-payments.ts';
import { isRefusedNow } from '../../../src/payments/onchain/payer-standing.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { payAgain, reconcilePayment } from '../../../src/payments/reconcile/reconcile-payment.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { type Engine, startEngine } from '../../support/engine.ts';

const SEND = 'eth_sendRawTransaction';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1 });
});
afterEach(async () => {
  engine.proxy.rule(SEND, null);
  await automine(true);
  await engine.ctx.settler.idle();
  await freeKeys();
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
});
afterAll(() => engine.stop());

/** Sends what was swallowed, and records its block. */
async function freeKeys(): Promise<void> {
  const later = { ...engine.ctx, clock: { now: () => new Date(Date.now() + 5000) } };
  for (let turn = 0; turn < 2; turn++) await reconcilePayments(later, 600_000);
}

const automine = (isOn: boolean) => callChain(engine.chain.rpcUrl, 'evm_setAutomine', isOn);

/** Has the chain keep the transaction that `act` causes out of its blocks, and waits until the chain has it. */
async function keepPending<T>(act: () => Promise<T>): Promise<{ readonly outcome: Promise<T> }> {
  await automine(false);
  const pending = Promise.withResolvers<void>();
  engine.proxy.rule(SEND, async ({ forward }) => {
    engine.proxy.rule(SEND, null);
    const answer = await forward();
    pending.resolve();
    return answer;
  });
  const outcome = act();
  await pending.promise;
  return { outcome };
}

async function mineIt(): Promise<void> {
  await engine.mine(1);
  await automine(true);
}

async function read({ id }: Pick<NewChainPayment, 'id'>): Promise<ChainPayment> {
  const payment = await findById(engine.ctx.db, id);
  if (!payment) throw new Error('the payment is there');
  return payment;
}

it('a payment whose transaction is pending has not failed for a process that read it before it was sent', async () => {
  const payment = await engine.claim(await engine.newPayer());
  const readBefore = await read(payment);
  const other = await engine.anotherProcess();
  const { outcome } = await keepPending(() => engine.ctx.settler.settle(payment));
  await reconcilePayment(other, readBefore);
  expect(await engine.stateOf(payment)).toBe('broadcasting');
  await mineIt();
  expect(await outcome).toMatchObject({ state: 'settled' });
});

it('a payment that was taken for failed while its transaction was pending stays so, and its money goes back', async () => {
  const { ctx, databaseUrl } = engine;
  const payer = await engine.newPayer();
  const { accountId } = await openAccount(ctx, { address: payer.address, plan: 'free', isWalletProven: false });
  const { id } = await engine.claim(payer);
  await askDatabase(databaseUrl, `update chain_payment set purpose = 'invocation', account_id = $2 where id = $1`, [
    id,
    accountId,
  ]);
  const payment = await read({ id });
  const { outcome } = await keepPending(() => ctx.settler.settle(payment));
  const reason = 'invalid_exact_evm_transaction_failed';
  await failPayment(ctx, payment, reason);
  await mineIt();
  // Its caller was told that the payment had failed: no call may begin with it.
  expect(await outcome).toEqual({ state: 'failed', reason });
  await reconcilePayments(ctx, 0);
  await ctx.settler.idle();
  expect(await engine.stateOf(payment)).toBe('settled');
  await reconcilePayments(ctx, 0);
  await ctx.settler.idle();
  expect(await findBySubject(ctx.db, payment.subjectId, 'refund')).toMatchObject({ state: 'settled' });
  expect(await ctx.usdc.balanceOf(payer.address)).toBe(1_000_000n);
});

it('a withdrawal that another process has signed again is not given back to its treasury as well', async () => {
  const { ctx } = engine;
  const payer = await engine.newPayer();
  const paidIn = await engine.claim(payer);
  await ctx.settler.settle(paidIn);
  const withdrawal = await expiredWithdrawal(paidIn.ledgerAccountId, payer.address);
  const other = await engine.anotherProcess();
  const nowS = await ctx.usdc.headTimeS();
  const { outcome } = await keepPending(() => payAgain(ctx, withdrawal, nowS));
  await payAgain(other, withdrawal, nowS);
  expect(await engine.stateOf(withdrawal)).toBe('broadcasting');
  await mineIt();
  await outcome;
  await ctx.settler.idle();
  expect(await engine.stateOf(withdrawal)).toBe('settled');
  expect((await findLedgerAccount(ctx.db, paidIn.ledgerAccountId))?.postedMicro).toBe(0n);
  expect(await ctx.usdc.balanceOf(payer.address)).toBe(1_000_000n);
});

it('a withdrawal that another process has given back to its treasury is not paid as well', async () => {
  const { ctx } = engine;
  const payer = await engine.newPayer();
  const paidIn = await engine.claim(payer);
  await ctx.settler.settle(paidIn);
  const withdrawal = await expiredWithdrawal(paidIn.ledgerAccountId, payer.address);
  const nowS = await ctx.usdc.headTimeS();
  // As an RPC node answers that is behind, or while the wallet had less.
  const refusing = { ...ctx, simulator: { ...ctx.simulator, simulate: async () => 'transfer amount exceeds balance' } };
  await payAgain(refusing, withdrawal, nowS);
  expect(await engine.stateOf(withdrawal)).toBe('failed');
  await payAgain(ctx, withdrawal, nowS);
  await ctx.settler.idle();
  expect(await ctx.usdc.areSpent([withdrawal.authorization])).toEqual([false]);
  expect((await findLedgerAccount(ctx.db, paidIn.ledgerAccountId))?.postedMicro).toBe(1_000_000n);
});

it.each([
  [30, true],
  [300, false],
])('one that was sent and expires unmined after %i s counts against its payer: %s', async (windowS, isCounted) => {
  const validBeforeS = BigInt(Math.floor(Date.now() / 1000) + windowS);
  const payment = await engine.claim(await engine.newPayer(), { validBeforeS });
  const other = await engine.anotherProcess();
  const isSent = Promise.withResolvers<void>();
  engine.proxy.rule(SEND, ({ answer }) => {
    isSent.resolve();
    return answer(`0x${'0'.repeat(64)}`);
  });
  const unknown = other.settler.settle(payment);
  await isSent.promise;
  await other.settler.stop(0);
  expect(await unknown).toMatchObject({ state: 'unknown' });
  await callChain(engine.chain.rpcUrl, 'evm_increaseTime', numberToHex(windowS + 10));
  await engine.mine(1);
  await reconcilePayments(engine.ctx, 0);
  expect(await engine.stateOf(payment)).toBe('failed');
  expect(await isRefusedNow(engine.ctx, payment)).toBe(isCounted);
});

/** A withdrawal of 1 USDC whose signature has expired unused. */
async function expiredWithdrawal(ledgerAccountId: string, to: string): Promise<ChainPayment> {
  const { ctx } = engine;
  const { chainId, token, domainSeparator } = ctx.chain;
  const authorization = {
    ...{ from: ctx.wallet.address, to, valueMicro: 1_000_000n },
    ...{ validAfterS: 0n, validBeforeS: (await ctx.usdc.headTimeS()) - 1n, nonce: generatePrivateKey() },
  };
  const payment: NewChainPayment = {
    id: newId('pay'),
    ...{ chainId, token, direction: 'out', purpose: 'withdrawal', subjectId: newId('wdr'), accountId: null },
    ...{ ledgerAccountId, authorization, fingerprint: null, x402Version: null },
    signature: ctx.wallet.signAuthorization(domainSeparator, authorization),
  };
  const now = ctx.clock.now();
  await insertChainPayments(ctx.db, [payment], now);
  const { subjectId } = payment;
  const moved = { debit: ledgerAccountId, credit: OUTGOING, amountMicro: 1_000_000n, subjectId };
  await postTransfers(ctx.db, [{ id: `withdrawal:${subjectId}`, kind: 'withdrawal', ...moved }], now);
  return read(payment);
}
