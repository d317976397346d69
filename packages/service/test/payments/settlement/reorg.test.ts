import { callChain } from '@agent-network/chain/chain-rpc-client';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { KnownCaller } from '../../../src/accounts/caller.ts';
import { type Once, unkeyed } from '../../../src/accounts/idempotency/once.ts';
import { openAccount } from '../../../src/accounts/open-account.ts';
import { authorizationDigest } from '../../../src/chain/keys/authorization.ts';
import { signDigest } from '../../../src/chain/keys/local-signer.ts';
import { newId } from '../../../src/lib/id.ts';
import { createSecrets } from '../../../src/lib/secrets.ts';
import type { NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { findBySubject } from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { type DepositOptions, deposit } from '../../../src/payments/deposits/deposit.ts';
import { postTransfers } from '../../../src/payments/ledger/ledger-store.ts';
import { openTreasury } from '../../../src/payments/ledger/open-treasury.ts';
import { owePayer } from '../../../src/payments/payouts/refund-payer.ts';
import { recollectLost } from '../../../src/payments/reconcile/recollect-lost.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { createReorgWatch } from '../../../src/payments/reconcile/watch-reorgs.ts';
import type { PresentedTransfer } from '../../../src/payments/schemes/exact/exact-on-wire.ts';
import { createPaymentChecks } from '../../../src/payments/schemes/exact/payment-checks.ts';
import { x402Schemes } from '../../../src/payments/schemes/schemes.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { emptyWallet, submitSigned } from '../../support/chain-actions.ts';
import { type Engine, type Payer, startEngine } from '../../support/engine.ts';
import { answerCallsAt } from '../../support/rpc-proxy.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1 });
  await engine.mine(20);
});
afterEach(async () => {
  await engine.ctx.settler.idle();
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await onChain());
});
afterAll(() => engine.stop());

const onChain = () => engine.ctx.usdc.balanceOf(engine.ctx.wallet.address);
const rpc = (...call: [string, ...unknown[]]) => callChain(engine.chain.rpcUrl, ...call);
const balanceOf = async (account: string) => {
  const [row] = await askDatabase<{ micro: string }>(
    engine.databaseUrl,
    'select (sum(case when credit = $1 then amount_micro else -amount_micro end))::text as micro from transfer where credit = $1 or debit = $1',
    [account],
  );
  return BigInt(row?.micro ?? 0);
};
/** The rows of a payment that say where it is. */
const placeOf = async ({ id }: NewChainPayment) => {
  const [row] = await askDatabase<{ state: string; hash: string; block: string | null; isLost: boolean }>(
    engine.databaseUrl,
    `select state, transaction_hash as hash, block_hash as block, lost_at is not null as "isLost" from chain_payment where id = $1`,
    [id],
  );
  return row;
};

/** Takes back the newest blocks, down to and with the one that has the payment; answers how many. What they had is in no pool. */
async function rollBack({ id }: NewChainPayment): Promise<number> {
  const [row] = await askDatabase<{ block: number }>(
    engine.databaseUrl,
    'select block_number::int as block from chain_payment where id = $1',
    [id],
  );
  const count = Number(await engine.ctx.usdc.headBlock()) - (row?.block ?? 0) + 1;
  await rpc('anvil_rollback', count);
  return count;
}

/** Replaces those blocks by empty ones. */
async function replaceBlocks(payment: NewChainPayment): Promise<void> {
  const count = await rollBack(payment);
  await rpc('evm_increaseTime', 1);
  await engine.mine(count + 1);
}

async function settleOne(changes: Parameters<Engine['claim']>[1] = {}, micro = 1_000_000n) {
  const payer = await engine.newPayer(micro);
  const payment = await engine.claim(payer, changes);
  expect(await engine.ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  return { payer, payment };
}

/** Reconciles as the recurring work does, as if some seconds had passed. */
async function reconcile(times = 3): Promise<void> {
  const later = { ...engine.ctx, clock: { now: () => new Date(Date.now() + 6000) } };
  for (let turn = 0; turn < times; turn++) {
    await reconcilePayments(later, 60_000);
    await engine.ctx.settler.idle();
  }
}

describe.each([1, 3, 10])('a reorg of %i blocks', (depth) => {
  it('takes a payment out of its block: it is sent again under the same nonce, and the books never change', async () => {
    const { payer, payment } = await settleOne();
    const before = await placeOf(payment);
    const transfers = await balanceOf(payment.ledgerAccountId);
    await engine.mine(depth - 1);
    await replaceBlocks(payment);
    expect(await engine.ctx.usdc.areSpent([payment.authorization])).toEqual([false]);
    await reconcile();
    const after = await placeOf(payment);
    expect(after).toMatchObject({ state: 'settled', isLost: false });
    expect(after?.block).not.toBe(before?.block);
    expect(await engine.ctx.usdc.balanceOf(payer.address)).toBe(0n);
    expect(await balanceOf(payment.ledgerAccountId)).toBe(transfers);
  });

  it('puts the same transaction into another block: its place is corrected, nothing is sent', async () => {
    const { payment } = await settleOne();
    const before = await placeOf(payment);
    const [stored] = await askDatabase<{ raw: string }>(
      engine.databaseUrl,
      'select raw from chain_transaction where hash = $1',
      [before?.hash],
    );
    await engine.mine(depth - 1);
    await rollBack(payment);
    await engine.mine(1);
    await rpc('eth_sendRawTransaction', stored?.raw);
    await engine.mine(depth + 2);
    const count = await engine.ctx.usdc.transactionCount(engine.ctx.wallet.address);
    await reconcile(1);
    const after = await placeOf(payment);
    expect(after).toMatchObject({ state: 'settled', hash: before?.hash, isLost: false });
    expect(after?.block).not.toBe(before?.block);
    expect(await engine.ctx.usdc.transactionCount(engine.ctx.wallet.address)).toBe(count);
  });

  it('takes out what the node paid: it is simply sent again', async () => {
    const { payer, payment } = await settleOne();
    await engine.mine(20);
    const { ctx } = engine;
    await ctx.db.transaction((tx) =>
      owePayer(ctx, tx, {
        requestId: payment.subjectId,
        accountId: null as never,
        ledgerAccountId: payment.ledgerAccountId,
        address: payer.address,
        amountMicro: 1_000_000n,
      }),
    );
    const refund = await engine.signedRefundOf(payment);
    expect(await ctx.settler.settle(refund)).toMatchObject({ state: 'settled' });
    await engine.mine(depth - 1);
    await replaceBlocks(refund);
    expect(await ctx.usdc.balanceOf(payer.address)).toBe(0n);
    await reconcile();
    expect(await ctx.usdc.balanceOf(payer.address)).toBe(1_000_000n);
    expect(await placeOf(refund)).toMatchObject({ state: 'settled', isLost: false });
  });
});

describe('a reorg is noticed', () => {
  it('after a look in which an RPC node that was behind told of the blocks from before it', async () => {
    const { ctx } = engine;
    const { payment } = await settleOne();
    await engine.mine(1);
    const head = await ctx.usdc.headBlock();
    const before = new Map<bigint, string | null>();
    for (const block of [head - 1n, head]) before.set(block, await ctx.usdc.hashAt(block));
    let isBehind = false;
    const hashAt = async (block: bigint) => (isBehind && before.get(block)) || ctx.usdc.hashAt(block);
    const watch = createReorgWatch({ ...ctx, usdc: { ...ctx.usdc, hashAt } });
    await watch.look();
    await replaceBlocks(payment);
    isBehind = true;
    await watch.look();
    expect(await placeOf(payment)).toMatchObject({ isLost: false });
    isBehind = false;
    await watch.look();
    expect(await placeOf(payment)).toMatchObject({ isLost: true });
    await reconcile();
  });

  it('after the chain could not be asked for longer than blocks are watched', async () => {
    const { payment } = await settleOne();
    await engine.ctx.reorgWatch.look();
    await replaceBlocks(payment);
    await engine.mine(130);
    await engine.ctx.reorgWatch.look();
    expect(await placeOf(payment)).toMatchObject({ isLost: true });
    await reconcile();
  });
});

describe('a payment that can never be collected again is reversed', () => {
  /** The payer uses the reorg to be elsewhere: its wallet is empty before the payment comes again, until it expires. */
  async function loseForGood(payer: Payer, payment: NewChainPayment): Promise<void> {
    await rollBack(payment);
    await emptyWallet(engine.chain.rpcUrl, engine, payer, 1_000_000n);
    await engine.mine(1);
    await reconcile(2);
    expect(await placeOf(payment)).toMatchObject({ state: 'settled', isLost: true });
    await rpc('evm_increaseTime', 400);
    await engine.mine(14);
    await reconcile(1);
  }

  it('from whom it was credited to, when they have it still', async () => {
    const { payer, payment } = await settleOne();
    const lossBefore = await balanceOf('loss');
    await loseForGood(payer, payment);
    expect(await placeOf(payment)).toMatchObject({ state: 'reversed' });
    expect(await balanceOf(payment.ledgerAccountId)).toBe(0n);
    expect(await balanceOf('loss')).toBe(lossBefore);
    await reconcile(1);
    expect(await balanceOf(payment.ledgerAccountId)).toBe(0n);
  });

  it('and leaves its Idempotency-Key and its payment identifier free for another deposit', async () => {
    const { ctx } = engine;
    const { accountId } = await openAccount(ctx, {
      address: (await engine.newPayer(0n)).address,
      plan: 'free',
      isWalletProven: false,
    });
    const treasuryId = await ctx.db.transaction((tx) => openTreasury(tx, accountId, ctx.clock.now()));
    const checks = {
      ...createPaymentChecks(ctx, x402Schemes),
      secrets: createSecrets('s'.repeat(64)),
      baseUrl: 'http://node',
    };
    const by = { kind: 'account', accountId } as KnownCaller;
    const ids = [newId('trf'), newId('trf')];
    const once: Once = { ...unkeyed, idsFor: (_prefix, nth) => ids.slice(nth - 1, nth) };
    const pay = async (payer: Payer, identifier: string | null, options: DepositOptions = {}) => {
      const authorization = {
        ...{ from: payer.address, to: ctx.wallet.address, valueMicro: 1_000_000n, validAfterS: 0n },
        ...{ validBeforeS: (await ctx.usdc.headTimeS()) + 300n, nonce: generatePrivateKey() },
      };
      const signature = signDigest(authorizationDigest(ctx.chain.domainSeparator, authorization), payer.key);
      const named = { scheme: 'exact', namedScheme: 'exact', payer: authorization.from } as const;
      const shown = { ...named, version: 1, network: ctx.chain.name, accepted: null, signature } as const;
      const payment: PresentedTransfer = { ...shown, authorization, identifier };
      return deposit({ ...ctx, ...checks }, by, { amount: '1' }, payment, options);
    };
    const first = await engine.newPayer();
    await pay(first, 'one-deposit', { once });
    const payment = await findBySubject(ctx.db, ids[0] as string, 'deposit');
    if (!payment) throw new Error('the deposit has the id of its key');
    await loseForGood(first, payment);
    expect(await placeOf(payment)).toMatchObject({ state: 'reversed' });
    await pay(await engine.newPayer(), null, { once });
    await pay(await engine.newPayer(), 'one-deposit');
    expect(await balanceOf(treasuryId)).toBe(2_000_000n);
  });

  it('from the node, as far as it is spent', async () => {
    const { payer, payment } = await settleOne();
    const lossBefore = await balanceOf('loss');
    const earner = await engine.newPayer(0n);
    await postTransfers(
      engine.ctx.db,
      [
        {
          id: `claim:${payment.id}`,
          debit: payment.ledgerAccountId,
          credit: `payer:${earner.address}`,
          amountMicro: 700_000n,
          kind: 'claim',
          subjectId: payment.subjectId,
        },
      ],
      new Date(),
    );
    await loseForGood(payer, payment);
    expect(await placeOf(payment)).toMatchObject({ state: 'reversed' });
    expect(await balanceOf(payment.ledgerAccountId)).toBe(0n);
    expect(await balanceOf(`payer:${earner.address}`)).toBe(700_000n);
    expect(lossBefore - (await balanceOf('loss'))).toBe(700_000n);
  });

  it('but not before its end is deep in the chain, and not while it may still come', async () => {
    const { payer, payment } = await settleOne();
    await rollBack(payment);
    await emptyWallet(engine.chain.rpcUrl, engine, payer, 1_000_000n);
    await engine.mine(1);
    await reconcile(2);
    await rpc('evm_increaseTime', 400);
    await engine.mine(3);
    await reconcile(1);
    expect(await placeOf(payment)).toMatchObject({ state: 'settled', isLost: true });
    await engine.mine(14);
    await reconcile(1);
    expect(await placeOf(payment)).toMatchObject({ state: 'reversed' });
  });

  it('but not when it is mined again and an RPC node that is behind says that it is unused', async () => {
    const { ctx } = engine;
    const { payment } = await settleOne();
    const mined = await placeOf(payment);
    await replaceBlocks(payment);
    await ctx.reorgWatch.look();
    const heightBefore = await ctx.usdc.headBlock();
    await submitSigned(engine.chain.rpcUrl, engine, payment);
    await rpc('evm_increaseTime', 400);
    await engine.mine(14);
    answerCallsAt(engine, heightBefore);
    await recollectLost(ctx);
    engine.proxy.rule('eth_call', null);
    expect(await placeOf(payment)).toMatchObject({ state: 'settled', isLost: true });
    await recollectLost(ctx);
    const after = await placeOf(payment);
    expect(after).toMatchObject({ state: 'settled', isLost: false });
    expect(after?.block).not.toBe(mined?.block);
  });
});
