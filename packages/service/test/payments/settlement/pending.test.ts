import { callChain } from '@agent-network/chain/chain-rpc-client';
import { numberToHex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openAccount } from '../../../src/accounts/open-account.ts';
import { authorizationDigest } from '../../../src/chain/keys/authorization.ts';
import { createLocalSigner } from '../../../src/chain/keys/local-signer.ts';
import type { Signer } from '../../../src/chain/keys/signer.ts';
import { newId } from '../../../src/lib/id.ts';
import { watchBills } from '../../../src/payments/bills/watch-bills.ts';
import type { ChainPayment, NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import {
  findById,
  findBySubject,
  insertChainPayments,
} from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { failPayment } from '../../../src/payments/chain-outbox/end-payments.ts';
import { findLedgerAccount, OUTGOING, postTransfers } from '../../../src/payments/ledger/ledger-store.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { payAgain, reconcilePayment } from '../../../src/payments/reconcile/reconcile-payment.ts';
import { isRefusedNow } from '../../../src/payments/schemes/exact/payer-status.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { submitSigned } from '../../support/chain-actions.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { answerCallsAt } from '../../support/rpc-proxy.ts';

const SEND = 'eth_sendRawTransaction';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1 });
});
afterEach(async () => {
  engine.proxy.rule(SEND, null);
  engine.proxy.rule('eth_call', null);
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
  const { payer, paidIn, payout: withdrawal } = await owe('withdrawal', -1n);
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
  const { paidIn, payout: withdrawal } = await owe('withdrawal', -1n);
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

describe('a payout that is mined right before it expires, of which an RPC node that is behind says that it is unused', () => {
  /** In a block whose successor is of a time after its end; calls are answered by the state before it. */
  async function mineAtTheEnd(payout: ChainPayment): Promise<void> {
    const heightBefore = await engine.ctx.usdc.headBlock();
    await submitSigned(engine.chain.rpcUrl, engine, payout);
    await callChain(engine.chain.rpcUrl, 'evm_increaseTime', numberToHex(400));
    await engine.mine(1);
    answerCallsAt(engine, heightBefore);
  }

  it('is a withdrawal that is not given back', async () => {
    const { ctx } = engine;
    const { payer, paidIn, payout } = await owe('withdrawal', 300n);
    await mineAtTheEnd(payout);
    await reconcilePayment(ctx, payout).catch(() => undefined);
    await reconcilePayments(ctx, 0);
    expect(await engine.stateOf(payout)).toBe('claimed');
    engine.proxy.rule('eth_call', null);
    await reconcilePayments(ctx, 0);
    expect(await engine.stateOf(payout)).toBe('settled');
    expect((await findLedgerAccount(ctx.db, paidIn.ledgerAccountId))?.postedMicro).toBe(0n);
    expect(await ctx.usdc.balanceOf(payer.address)).toBe(1_000_000n);
  });

  it('is a bill that is not given up', async () => {
    const { ctx } = engine;
    const { payout } = await owe('bill', 300n);
    const givenUp: string[] = [];
    const watch = () => watchBills(ctx, async ({ id }) => void givenUp.push(id));
    await mineAtTheEnd(payout);
    await watch().catch(() => undefined);
    engine.proxy.rule('eth_call', null);
    await watch();
    expect([givenUp, await engine.stateOf(payout)]).toEqual([[], 'settled']);
  });
});

it('a withdrawal that the token refuses because it is paid is left open', async () => {
  const { ctx } = engine;
  const { payout } = await owe('withdrawal', -1n);
  const nowS = await ctx.usdc.headTimeS();
  const refusing = { ...ctx, simulator: { simulate: async () => 'FiatTokenV2: authorization is used or canceled' } };
  await payAgain(refusing, payout, nowS);
  expect(await engine.stateOf(payout)).toBe('claimed');
  await payAgain(ctx, payout, nowS);
  await expect.poll(() => engine.stateOf(payout)).toBe('settled');
});

it('a payout that a former wallet signed is signed by the wallet of now once it has expired for good, and paid once', async () => {
  const { ctx } = engine;
  const former = createLocalSigner(generatePrivateKey());
  const { payer, paidIn, payout } = await owe('withdrawal', -1n, former);
  await payAgain(ctx, payout, await ctx.usdc.headTimeS());
  expect(await read(payout)).toMatchObject({ state: 'claimed', authorization: { from: former.address } });
  await engine.mine(13);
  await reconcilePayments(ctx, 0);
  await ctx.settler.idle();
  expect(await read(payout)).toMatchObject({ state: 'settled', authorization: { from: ctx.wallet.address } });
  expect((await findLedgerAccount(ctx.db, paidIn.ledgerAccountId))?.postedMicro).toBe(0n);
  expect(await ctx.usdc.balanceOf(payer.address)).toBe(1_000_000n);
});

/** What the node owes to a payer who had paid as much: 1 USDC, in no transaction yet. */
async function owe(purpose: 'withdrawal' | 'bill', validForS: bigint, wallet: Signer = engine.ctx.wallet) {
  const { ctx } = engine;
  const payer = await engine.newPayer();
  const paidIn = await engine.claim(payer);
  await ctx.settler.settle(paidIn);
  const { ledgerAccountId } = paidIn;
  const { chainId, token, domainSeparator } = ctx.chain;
  const authorization = {
    ...{ from: wallet.address, to: payer.address, valueMicro: 1_000_000n },
    ...{ validAfterS: 0n, validBeforeS: (await ctx.usdc.headTimeS()) + validForS, nonce: generatePrivateKey() },
  };
  const payment: NewChainPayment = {
    id: newId('pay'),
    ...{ chainId, token, direction: 'out', purpose, subjectId: newId('wdr'), accountId: null },
    ...{ ledgerAccountId, authorization, fingerprint: null, x402Version: null },
    signature: await wallet.signHash(authorizationDigest(domainSeparator, authorization)),
  };
  const now = ctx.clock.now();
  await insertChainPayments(ctx.db, [payment], now);
  const { subjectId } = payment;
  const moved = { debit: ledgerAccountId, credit: OUTGOING, amountMicro: 1_000_000n, subjectId };
  await postTransfers(ctx.db, [{ id: `withdrawal:${subjectId}`, kind: 'withdrawal', ...moved }], now);
  return { payer, paidIn, payout: await read(payment) };
}

it('a chain whose contracts see the number of another chain, as on Arbitrum, tells why the token refuses a payment', async () => {
  const payer = await engine.newPayer();
  const spent = await engine.claim(payer);
  await engine.ctx.settler.settle(spent);
  const pendingHeight = BigInt((await callChain(engine.chain.rpcUrl, 'eth_blockNumber')) as string) + 1n;
  const wordOf = (height: bigint) => height.toString(16).padStart(64, '0');
  engine.proxy.rule('eth_call', async ({ params: [, block], forward }) => {
    const text = await forward();
    return block === 'pending' ? text.replace(wordOf(pendingHeight), wordOf(1n)) : text;
  });
  try {
    expect(await engine.ctx.usdc.simulate([spent])).toEqual([expect.stringMatching(/used or canceled/)]);
  } finally {
    engine.proxy.rule('eth_call', null);
  }
});
