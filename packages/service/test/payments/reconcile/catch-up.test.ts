import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openAccount } from '../../../src/accounts/open-account.ts';
import { authorizationDigest } from '../../../src/chain/keys/authorization.ts';
import { createLocalSigner } from '../../../src/chain/keys/local-signer.ts';
import type { Signer } from '../../../src/chain/keys/signer.ts';
import { createWalletReads } from '../../../src/chain/outgoing-transfer-client.ts';
import { newId } from '../../../src/lib/id.ts';
import { createSecrets } from '../../../src/lib/secrets.ts';
import type { NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { findById, insertChainPayments } from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { findLedgerAccount, OUTGOING, postTransfers } from '../../../src/payments/ledger/ledger-store.ts';
import { openTreasury } from '../../../src/payments/ledger/open-treasury.ts';
import { readCatchUp, whyWithdrawalsWait } from '../../../src/payments/payouts/catch-up-store.ts';
import { listFoundPayouts } from '../../../src/payments/payouts/found-payout-store.ts';
import { withdrawalNonces } from '../../../src/payments/payouts/withdraw.ts';
import { catchUp, type PayoutContext, payoutPoints, readWallet } from '../../../src/payments/reconcile/read-payouts.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { askDatabase } from '../../support/books.ts';
import { submitSigned } from '../../support/chain-actions.ts';
import { type Engine, type Payer, startEngine } from '../../support/engine.ts';

let engine: Engine;
let ctx: PayoutContext;
beforeAll(async () => {
  engine = await startEngine();
  const { token, wallet } = engine.ctx.chain;
  ctx = {
    ...engine.ctx,
    ...createWalletReads({ rpcUrl: engine.proxy.url, token, wallet }),
    secrets: createSecrets('a secret of no node that has money'),
    requestPayouts: { find: async () => new Map(), end: async () => undefined },
    recoverChannels: async () => true,
    transferDepthBlocks: 12,
  };
  await engine.mine(20);
});
afterAll(() => engine.stop());

/** From here on the database is one that was never held against the chain, whose points are a few blocks old. */
beforeEach(async () => {
  await readWallet(ctx);
  await askDatabase(engine.databaseUrl, "update chain_catch_up set database = database || ' of before'");
  await engine.mine(20);
});

const isCaughtUp = async () => (await readCatchUp(ctx.db, ctx.chain)).isCaughtUp;
const whyWait = () => whyWithdrawalsWait(ctx.db, { ...ctx.chain, source: 'nobody' });
const payoutsTo = async ({ address }: Payer) =>
  (await listFoundPayouts(ctx.db, null, null)).filter(({ to }) => to === address).map(({ state }) => state);

/** A process whose RPC node does not know the newest block, as long as `isBehind` says so. */
const withNodeBehind = (isBehind: () => boolean): PayoutContext => ({
  ...ctx,
  incomingTransfers: {
    ...ctx.incomingTransfers,
    hashAt: async (block) => {
      const last = (await ctx.incomingTransfers.headBlock()) - BigInt(ctx.transferDepthBlocks - 1);
      return block >= last && isBehind() ? null : ctx.incomingTransfers.hashAt(block);
    },
  },
});

/** The node's wallet pays by an authorization that the database does not have. */
async function payOut(to: Payer, nonce: string = generatePrivateKey()): Promise<void> {
  const authorization = {
    ...{ from: ctx.wallet.address, to: to.address, valueMicro: 1_000_000n, nonce },
    ...{ validAfterS: 0n, validBeforeS: (await ctx.usdc.headTimeS()) + 300n },
  };
  const signature = await ctx.wallet.signHash(authorizationDigest(ctx.chain.domainSeparator, authorization));
  await submitSigned(engine.chain.rpcUrl, engine, { authorization, signature });
}

it('a database does not count as caught up while transfers up to the newest block were not read', async () => {
  let asked = 0;
  expect(await readWallet(withNodeBehind(() => asked++ === 0))).toBe(false);
  expect(asked).toBeGreaterThan(0);
  expect(await isCaughtUp()).toBe(false);
  expect(await whyWait()).toBe('reading');
  await readWallet(ctx);
  expect(await isCaughtUp()).toBe(true);
});

it.each([
  ['one that its RPC node cut short', (asked: number[]) => withNodeBehind(() => asked.length < 2)],
  ['one in which the chain changed', () => ctx],
])('channels are recovered from where the books ended, also in the run after %s', async (_, contextOf) => {
  const [before] = await payoutPoints.list(ctx.db, ctx.chain);
  const asked: number[] = [];
  const recoverChannels = async (from: bigint) => asked.push(Number(from)) > 1;
  await catchUp({ ...contextOf(asked), recoverChannels });
  expect(await isCaughtUp()).toBe(true);
  expect(asked.length).toBeGreaterThan(1);
  expect(new Set(asked)).toEqual(new Set([Number(before?.block)]));
  const [caughtUp] = await askDatabase<{ from: string }>(
    engine.databaseUrl,
    'select from_block as "from" from chain_catch_up order by caught_up_at desc limit 1',
  );
  expect(Number(caughtUp?.from)).toBe(Number(before?.block));
});

it('channels are recovered before the process that reads on can lose the place where the books ended', async () => {
  const [before] = await payoutPoints.list(ctx.db, ctx.chain);
  const died = new Error('the process died');
  const dying = { ...ctx, recoverChannels: () => Promise.reject(died) };
  await expect(readWallet(dying)).rejects.toBe(died);
  expect((await payoutPoints.list(ctx.db, ctx.chain))[0]).toEqual(before);
});

it('a node that starts waits for the process that reads the chain before it, and does not give up', async () => {
  const readMs = performance.now() + 1500;
  await catchUp(withNodeBehind(() => performance.now() < readMs));
  expect(await isCaughtUp()).toBe(true);
  expect(performance.now()).toBeGreaterThan(readMs);
});

it('what was paid in the newest blocks is found before withdrawals go on, and charged once its payment is deep enough', async () => {
  const payer = await engine.newPayer();
  const payment = await engine.claim(payer);
  await askDatabase(engine.databaseUrl, `delete from chain_payment where id = '${payment.id}'`);
  await submitSigned(engine.chain.rpcUrl, engine, payment);
  await payOut(payer);
  await readWallet(ctx);
  expect(await isCaughtUp()).toBe(true);
  expect([await payoutsTo(payer), await whyWait()]).toEqual([['found'], 'undecided']);
  await engine.mine(12);
  await readWallet(ctx);
  expect([await payoutsTo(payer), await whyWait()]).toEqual([['booked'], null]);
});

/** A withdrawal that the books have as this wallet signed it, of a treasury that has 1 USDC more. */
async function withdrawFrom(signer: Signer, payer: Payer): Promise<NewChainPayment> {
  const { db, chain, clock, secrets } = ctx;
  const now = clock.now();
  const subjectId = newId('wdr');
  const { accountId } = await openAccount(ctx, { address: payer.address, plan: 'free', isWalletProven: false });
  const source = await db.transaction((tx) => openTreasury(tx, accountId, now));
  for (const payment of await engine.claimMany(2)) {
    await engine.ctx.settler.settle(payment);
    const moved = { debit: payment.ledgerAccountId, credit: source, amountMicro: 1_000_000n, subjectId: payment.id };
    await postTransfers(db, [{ id: `claim:${payment.id}`, kind: 'claim', ...moved }], now);
  }
  const [nonce = ''] = withdrawalNonces(secrets, chain.chainId, { id: subjectId, source });
  const authorization = {
    ...{ from: signer.address, to: payer.address, valueMicro: 1_000_000n, nonce },
    ...{ validAfterS: 0n, validBeforeS: 1n },
  };
  const withdrawal: NewChainPayment = {
    ...{ id: newId('pay'), chainId: chain.chainId, token: chain.token, direction: 'out', purpose: 'withdrawal' },
    ...{ subjectId, accountId, ledgerAccountId: source, authorization, fingerprint: null, x402Version: null },
    signature: await signer.signHash(authorizationDigest(chain.domainSeparator, authorization)),
  };
  await insertChainPayments(db, [withdrawal], now);
  const paid = { debit: source, credit: OUTGOING, amountMicro: 1_000_000n, subjectId };
  await postTransfers(db, [{ id: `withdrawal:${subjectId}`, kind: 'withdrawal', ...paid }], now);
  return withdrawal;
}

it('a withdrawal signed by a former wallet is charged once, if the database lost its payment by the current wallet', async () => {
  const former = createLocalSigner(generatePrivateKey());
  const chain = { ...ctx.chain, formerWallets: [former.address] };
  const payer = await engine.newPayer();
  const withdrawal = await withdrawFrom(former, payer);
  await payOut(payer, withdrawal.authorization.nonce);
  await readWallet({ ...ctx, chain });
  expect(await payoutsTo(payer)).toEqual([]);
  // Once to find that it was paid, once to book it.
  for (let turn = 0; turn < 2; turn++) await reconcilePayments({ ...engine.ctx, chain }, 0);
  const authorization = { from: ctx.wallet.address };
  expect(await findById(ctx.db, withdrawal.id)).toMatchObject({ state: 'settled', authorization });
  expect((await findLedgerAccount(ctx.db, withdrawal.ledgerAccountId))?.postedMicro).toBe(1_000_000n);
});
