import { callChain } from '@agent-network/chain/chain-rpc-client';
import { numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIncomingTransfers } from '../../../src/chain/incoming-transfer-client.ts';
import { authorizationDigest } from '../../../src/chain/keys/authorization.ts';
import { signDigest } from '../../../src/chain/keys/local-signer.ts';
import { createWalletBalances } from '../../../src/chain/wallet-balance-client.ts';
import type { ChainPayment, NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { findById } from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { failPayment } from '../../../src/payments/chain-outbox/end-payments.ts';
import { bookIfPaidLate } from '../../../src/payments/reconcile/book-late.ts';
import { bookLateTransfers, readTransfers } from '../../../src/payments/reconcile/read-transfers.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { readReserves } from '../../../src/payments/statements/read-reserves.ts';
import { askDatabase, contradictions, suspenseOf, walletByBooks } from '../../support/books.ts';
import { submitSigned } from '../../support/chain-actions.ts';
import { type Engine, type Payer, startEngine } from '../../support/engine.ts';
import { limitLogQueries } from '../../support/rpc-proxy.ts';

const CONFIRMATIONS = [
  { fromMicro: 0n, depthBlocks: 1 },
  { fromMicro: 2_000_000n, depthBlocks: 4 },
];

let engine: Engine;
let ctx: ReturnType<typeof withTransfers>;
beforeAll(async () => {
  engine = await startEngine({ confirmations: CONFIRMATIONS });
  ctx = withTransfers(engine);
  await readTransfers(ctx);
});
afterAll(() => engine.stop());
afterEach(async () => {
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
  expect((await readReserves(ctx)).reserves.status).toBe('balanced');
});

function withTransfers({ ctx: base, chain, proxy }: Engine) {
  const token = chain.usdc.toLowerCase();
  const options = { rpcUrl: proxy.url, token, wallet: base.wallet.address };
  return {
    ...base,
    incomingTransfers: createIncomingTransfers(options),
    walletBalances: createWalletBalances(options),
    transferDepthBlocks: 1,
    platformFeeBps: 0,
  };
}
const later = (minutes: number) => ({
  ...ctx,
  clock: { now: () => new Date(engine.ctx.clock.now().getTime() + minutes * 60_000) },
});

/** The next block is made this much later. */
async function passTime(seconds: number): Promise<void> {
  await callChain(engine.chain.rpcUrl, 'evm_increaseTime', numberToHex(seconds));
  await engine.mine(1);
}

/** A payment that failed here, and that its payer may submit for 100 seconds still. */
async function failed(valueMicro = 1_000_000n): Promise<{ payer: Payer; payment: NewChainPayment }> {
  const payer = await engine.newPayer(10_000_000n);
  const validBeforeS = (await engine.ctx.usdc.headTimeS()) + 100n;
  const payment = await engine.claim(payer, { valueMicro, validBeforeS });
  await failPayment(engine.ctx, payment, 'invalid_exact_evm_transaction_failed');
  return { payer, payment };
}
const land = (payment: NewChainPayment) => submitSigned(engine.chain.rpcUrl, engine, payment);
const paidTo = async ({ ledgerAccountId }: NewChainPayment): Promise<bigint> => {
  const rows = await askDatabase<{ micro: string }>(
    engine.databaseUrl,
    'select posted_micro::text as micro from ledger_account where id = $1',
    [ledgerAccountId],
  );
  return BigInt(rows[0]?.micro ?? 0);
};

describe('a failed payment that its payer submits right before it expires is booked, once', () => {
  it('when nobody looked until it had expired, and the transfer reader comes first', async () => {
    const { payment } = await failed();
    await land(payment);
    await passTime(200);
    expect((await readReserves(later(5))).reserves.status).not.toBe('drift');
    await Promise.all([readTransfers(ctx), readTransfers(ctx), reconcilePayments(ctx)]);
    expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['settled', 1_000_000n]);
    await readTransfers(later(25));
    expect(await paidTo(payment)).toBe(1_000_000n);
  });

  it('when the transfer was read while the payment was open, and it is taken for failed after that', async () => {
    const payer = await engine.newPayer(10_000_000n);
    const payment = await engine.claim(payer, { validBeforeS: (await engine.ctx.usdc.headTimeS()) + 100n });
    await land(payment);
    await readTransfers(ctx);
    await readTransfers(later(25));
    expect((await readReserves(ctx)).reserves.status).toBe('settling');
    // By somebody who had asked the chain before the transfer was in a block.
    await failPayment(engine.ctx, payment, 'invalid_exact_evm_transaction_failed');
    await passTime(200);
    await readTransfers(ctx);
    expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['settled', 1_000_000n]);
  });

  it('when it is deep enough only after it has expired: it is watched so long, without the transfer reader', async () => {
    const { payment } = await failed(2_000_000n);
    await land(payment);
    await passTime(200);
    await reconcilePayments(ctx);
    expect(await engine.stateOf(payment)).toBe('failed');
    await engine.mine(2);
    await reconcilePayments(ctx);
    expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['settled', 2_000_000n]);
    await readTransfers(ctx);
    await readTransfers(later(25));
    expect(await paidTo(payment)).toBe(2_000_000n);
  });

  it('and not by the reader either before it is as deep as its amount asks for', async () => {
    const { payment } = await failed(2_000_000n);
    await land(payment);
    await passTime(200);
    await readTransfers(ctx);
    expect(await engine.stateOf(payment)).toBe('failed');
    expect((await readReserves(later(5))).reserves.status).toBe('settling');
    await engine.mine(3);
    await Promise.all([bookLateTransfers(ctx), bookLateTransfers(ctx)]);
    expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['settled', 2_000_000n]);
  });
});

describe('a failed payment in a block that a reorg removes while the chain is asked how deep it is, is not booked', () => {
  async function removeNewest(): Promise<void> {
    await callChain(engine.chain.rpcUrl, 'anvil_rollback', 1);
    await engine.mine(5);
  }

  it('by the reconciler', async () => {
    const { payment } = await failed(2_000_000n);
    await land(payment);
    const findSpent: typeof ctx.usdc.findSpent = async (...asked) => {
      const found = await ctx.usdc.findSpent(...asked);
      await removeNewest();
      return found;
    };
    const stored = await findById(ctx.db, payment.id);
    await bookIfPaidLate({ ...ctx, usdc: { ...ctx.usdc, findSpent } }, stored as ChainPayment);
    expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['failed', 0n]);
  });

  it('by the reader of transfers', async () => {
    const { payment } = await failed(2_000_000n);
    await land(payment);
    await readTransfers(ctx);
    await removeNewest();
    await bookLateTransfers(ctx);
    expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['failed', 0n]);
    await readTransfers(ctx);
  });
});

/** Submits an authorization of another sum under the nonce of a payment. */
async function landAnother({ authorization }: NewChainPayment, { key }: Payer, valueMicro: bigint): Promise<void> {
  const other = { ...authorization, valueMicro };
  const signature = signDigest(authorizationDigest(engine.ctx.chain.domainSeparator, other), key);
  await submitSigned(engine.chain.rpcUrl, engine, { authorization: other, signature });
}

it.each([['failed'], ['claimed']])(
  'what another authorization under the nonce of a %s payment brought is a deposit of the wallet that sent it',
  async (state) => {
    const payer = await engine.newPayer(10_000_000n);
    const payment = await engine.claim(payer, { validBeforeS: (await engine.ctx.usdc.headTimeS()) + 100n });
    if (state === 'failed') await failPayment(engine.ctx, payment, 'invalid_exact_evm_transaction_failed');
    await landAnother(payment, payer, 3_000_000n);
    await passTime(200);
    expect((await readReserves(later(5))).reserves.status).toBe('settling');
    await readTransfers(ctx);
    await reconcilePayments(ctx, 0);
    await readTransfers(later(25));
    expect(await suspenseOf(ctx, payer.address)).toBe(3_000_000n);
    expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['failed', 0n]);
  },
);

it('a late payment that a reorg takes back is booked once when it comes again, and reversed when it cannot any more', async () => {
  const { payer, payment } = await failed();
  await engine.mine(1);
  await land(payment);
  const validBeforeS = payment.authorization.validBeforeS;
  await readTransfers(ctx);
  expect(await engine.stateOf(payment)).toBe('settled');
  await callChain(engine.chain.rpcUrl, 'anvil_reorg', 1, []);
  await ctx.reorgWatch.look();
  expect(await engine.ctx.usdc.headTimeS()).toBeLessThan(validBeforeS);
  await land(payment);
  await readTransfers(ctx);
  await reconcilePayments(ctx);
  await readTransfers(later(25));
  expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['settled', 1_000_000n]);
  await callChain(engine.chain.rpcUrl, 'anvil_reorg', 1, []);
  await passTime(300);
  await engine.mine(14);
  await ctx.reorgWatch.look();
  await reconcilePayments(ctx);
  expect([await engine.stateOf(payment), await paidTo(payment)]).toEqual(['reversed', 0n]);
  expect(await suspenseOf(ctx, payer.address)).toBe(0n);
});

it('the reserves are explained to the last micro-USDC by an RPC node that answers for few blocks at a time', async () => {
  const payer = await engine.newPayer(10_000_000n);
  await landAnother(await engine.claim(payer), payer, 3_000_000n);
  await engine.mine(600);
  limitLogQueries(engine.proxy, 500n);
  expect((await readReserves(ctx)).reserves).toMatchObject({ status: 'settling', difference: '3.00' });
  engine.proxy.rule('eth_getLogs', null);
  await readTransfers(ctx);
  await reconcilePayments(ctx, 0);
  await readTransfers(later(25));
  expect(await suspenseOf(ctx, payer.address)).toBe(3_000_000n);
});
