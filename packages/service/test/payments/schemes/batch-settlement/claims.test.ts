import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimCall, SETTLEMENT_CONTRACT, sweepCall } from '../../../../src/chain/channels/channel-calls.ts';
import { channelDigestsOf } from '../../../../src/chain/channels/channel-digests.ts';
import { createIncomingTransfers } from '../../../../src/chain/incoming-transfer-client.ts';
import { createWalletBalances } from '../../../../src/chain/wallet-balance-client.ts';
import { reconcilePayments } from '../../../../src/payments/reconcile/reconcile.ts';
import { bookClaims } from '../../../../src/payments/schemes/batch-settlement/claims/book-claims.ts';
import { actOnChannels } from '../../../../src/payments/schemes/batch-settlement/claims/claimer.ts';
import { recordClaims } from '../../../../src/payments/schemes/batch-settlement/claims/record-claims.ts';
import { readReserves } from '../../../../src/payments/statements/read-reserves.ts';
import { askDatabase, contradictions, suspenseOf } from '../../../support/books.ts';
import { transferUsdc } from '../../../support/chain-actions.ts';
import {
  assetsOf,
  type BookedTestChannel,
  booksOf,
  charge,
  claimAs,
  endCharges,
  finalizeWithdraw,
  openChannel,
  requestWithdraw,
  sendAs,
  sweep,
} from '../../../support/channel-books.ts';
import { signVoucher } from '../../../support/channels.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';

let engine: Engine;
/** Came from a former wallet, and is in the books as vouchers. */
let movedMicro = 0n;
beforeAll(async () => {
  engine = await startEngine({ senders: 1, claims: { thresholdMicro: 1000n, minMicro: 10n, intervalMs: 3_600_000 } });
  await engine.mine(20);
});
afterEach(async () => {
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  const { wallet } = await assetsOf(engine);
  expect(wallet + movedMicro).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
  const { reserves, driftMicro, lossMicro } = await readReserves(reservesContext());
  // A loss that is booked is no difference, and is not covered: this node has earned no fees.
  expect({ driftMicro, status: reserves.status }).toEqual({
    driftMicro: 0n,
    status: lossMicro === 0n ? 'balanced' : 'drift',
  });
});
afterAll(() => engine.stop());

const { stringify } = JSON;
const reservesContext = () => {
  const { proxy, ctx } = engine;
  const options = { rpcUrl: proxy.url, token: ctx.chain.token, wallet: ctx.chain.wallet };
  return {
    ...ctx,
    incomingTransfers: createIncomingTransfers(options),
    walletBalances: createWalletBalances(options),
    platformFeeBps: 0,
  };
};
const rpc = (...call: [string, ...unknown[]]) => callChain(engine.chain.rpcUrl, ...call);
const due = () => engine.ctx.channelClaims.claim('due');
const onChain = async ({ id }: BookedTestChannel) => (await engine.ctx.settlementContract.readChannels([id], null))[0];
const claimsOf = ({ id }: BookedTestChannel) =>
  askDatabase<{ state: string; reason: string; max: string; total: string }>(
    engine.databaseUrl,
    `select k.state, k.reason, r.max_micro::text as max, r.total_micro::text as total from channel_claim k
       join channel_claim_row r on r.claim_id = k.id where r.channel_id = $1 order by k.created_at`,
    [id],
  );

describe('a channel that owes the threshold', () => {
  it('is claimed and swept in one transaction, and booked once', async () => {
    const channel = await openChannel(engine, 10_000n);
    await charge(engine, channel, 1500n);
    await charge(engine, channel, 700n);
    const before = await assetsOf(engine);
    await due();
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 10_000n, claimedMicro: 1500n });
    await due();
    await bookClaims(engine.ctx);
    expect(await claimsOf(channel)).toEqual([{ state: 'done', reason: 'threshold', max: '1500', total: '1500' }]);
    expect(await booksOf(engine, channel)).toMatchObject({
      claimed: '1500',
      published: '1500',
      charged: '2200',
      wallet: before.wallet + 1500n,
      vouchersDue: before.vouchersDue - 1500n,
      claimedDue: 0n,
    });
  });

  it('keeps its last voucher to itself: a public one could ask for the refund', async () => {
    const channel = await openChannel(engine, 10_000n);
    await charge(engine, channel, 5000n);
    await due();
    expect(await onChain(channel)).toMatchObject({ claimedMicro: 0n });
    await charge(engine, channel, 1n);
    await due();
    expect(await onChain(channel)).toMatchObject({ claimedMicro: 5000n });
  });
});

it('calls in flight and what they did not use are never claimed', async () => {
  const channel = await openChannel(engine, 10_000n);
  await charge(engine, channel, 2000n, { costMicro: 1200n });
  await charge(engine, channel, 2000n, { costMicro: 900n });
  await charge(engine, channel, 3000n, { costMicro: null });
  await engine.ctx.channelClaims.claim('payout');
  // Charged are 2,100, and the highest voucher up to that is the first, for 2,000.
  expect(await onChain(channel)).toMatchObject({ claimedMicro: 2000n });
  expect(await booksOf(engine, channel)).toMatchObject({ published: '2000', charged: '2100' });
});

it('an amount owed for long is claimed, and one that is not worth its gas is not', async () => {
  const [old, small] = [await openChannel(engine, 1000n), await openChannel(engine, 1000n)];
  const endedAt = new Date(Date.now() - 3_700_000);
  await charge(engine, old, 50n, { endedAt });
  await charge(engine, small, 9n, { endedAt });
  await due();
  expect([await onChain(old), await onChain(small)]).toMatchObject([{ claimedMicro: 50n }, { claimedMicro: 0n }]);
  expect(await claimsOf(old)).toMatchObject([{ reason: 'age' }]);
});

describe('a payer that withdraws', () => {
  it('finds everything claimed that it was charged, with the highest voucher, as soon as it asks', async () => {
    const channel = await openChannel(engine, 10_000n);
    await charge(engine, channel, 900n, { costMicro: 500n });
    await charge(engine, channel, 900n, { costMicro: 40n });
    await requestWithdraw(engine, channel, 10_000n);
    await actOnChannels(engine.ctx);
    // Behind the run that was requested.
    await due();
    expect(await claimsOf(channel)).toEqual([{ state: 'done', reason: 'withdrawal', max: '1400', total: '540' }]);
    expect(await onChain(channel)).toMatchObject({ claimedMicro: 540n });
    await finalizeWithdraw(engine, channel);
    await actOnChannels(engine.ctx);
    await bookClaims(engine.ctx);
    expect(await booksOf(engine, channel)).toMatchObject({ lost: '0', claimed: '540' });
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 540n });
  });

  it('finds claimed what its calls in flight may cost, and is credited once what they did not', async () => {
    const channel = await openChannel(engine, 10_000n, { withdrawDelayS: 900 });
    await charge(engine, channel, 500n);
    await charge(engine, channel, 3000n, { costMicro: null });
    await charge(engine, channel, 2000n, { costMicro: null });
    await requestWithdraw(engine, channel, 9000n);
    await actOnChannels(engine.ctx);
    await due();
    expect(await onChain(channel)).toMatchObject({ claimedMicro: 5500n });
    await finalizeWithdraw(engine, channel);
    await actOnChannels(engine.ctx);
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 5500n });
    await endCharges(engine, channel, 1000n);
    for (let run = 0; run < 3; run++) await bookClaims(engine.ctx);
    expect(await booksOf(engine, channel)).toMatchObject({ charged: '5500', claimed: '5500', lost: '0' });
    expect(await suspenseOf(engine.ctx, channel.payer.address.toLowerCase())).toBe(3000n);
  });

  it('before it was claimed leaves a loss, which is booked and counted, and made good by a later deposit', async () => {
    const channel = await openChannel(engine, 5000n, { withdrawDelayS: 900 });
    await charge(engine, channel, 600n);
    const before = await assetsOf(engine);
    await requestWithdraw(engine, channel, 5000n);
    await finalizeWithdraw(engine, channel);
    await actOnChannels(engine.ctx);
    await bookClaims(engine.ctx);
    expect(await booksOf(engine, channel)).toMatchObject({ lost: '600', loss: before.loss + 600n });
    const lost = await engine.ctx.metrics.channelLoss.get();
    expect(lost.values[0]?.value).toBe(600);
    await askDatabase(engine.databaseUrl, 'update channel set balance_micro = 600 where id = $1', [channel.id]);
    await bookClaims(engine.ctx);
    expect(await booksOf(engine, channel)).toMatchObject({ lost: '0', loss: before.loss });
    await askDatabase(engine.databaseUrl, 'update channel set balance_micro = 0 where id = $1', [channel.id]);
    await bookClaims(engine.ctx);
  });
});

it('one bad voucher does not keep the others from being claimed', async () => {
  const channels: BookedTestChannel[] = [];
  for (let i = 0; i < 5; i++) channels.push(await openChannel(engine, 5000n));
  for (const channel of channels) await charge(engine, channel, 2000n);
  const [bad, ...good] = channels as [BookedTestChannel, ...BookedTestChannel[]];
  await askDatabase(engine.databaseUrl, `update channel_charge set signature = $2 where channel_id = $1`, [
    bad.id,
    `0x${'11'.repeat(64)}1b`,
  ]);
  await engine.ctx.channelClaims.claim('payout');
  for (const channel of good) expect(await onChain(channel)).toMatchObject({ claimedMicro: 2000n });
  expect(await onChain(bad)).toMatchObject({ claimedMicro: 0n });
  expect(await claimsOf(bad)).toEqual([]);
});

it('what another process has claimed since a claim was planned is not claimed again', async () => {
  const channel = await openChannel(engine, 5000n);
  await charge(engine, channel, 2000n);
  const other = await engine.anotherProcess();
  const { claimSimulator } = other;
  const simulate = claimSimulator.simulate.bind(claimSimulator);
  vi.spyOn(claimSimulator, 'simulate').mockImplementationOnce(async (data) => {
    const reason = await simulate(data);
    await engine.ctx.channelClaims.claim('payout');
    await recordClaims(engine.ctx);
    return reason;
  });
  await other.channelClaims.claim('payout');
  expect(await claimsOf(channel)).toHaveLength(1);
  expect(await booksOf(engine, channel)).toMatchObject({ claimed: '2000' });
});

it('two processes that claim at once claim once', async () => {
  const channel = await openChannel(engine, 5000n);
  await charge(engine, channel, 2000n);
  const other = await engine.anotherProcess();
  await Promise.all([engine.ctx.channelClaims.claim('payout'), other.channelClaims.claim('payout')]);
  await Promise.all([engine.ctx.channelClaims.claim('due'), other.channelClaims.claim('due')]);
  expect(await claimsOf(channel)).toHaveLength(1);
  expect(await booksOf(engine, channel)).toMatchObject({ claimed: '2000' });
});

describe('an RPC node that answers calls for one block by the states of two', () => {
  afterEach(() => {
    engine.proxy.rule('eth_call', null);
    engine.proxy.rule('eth_blockNumber', null);
  });

  it.each([
    { title: 'the later one after the first call', isLater: (call: number) => call > 0 },
    { title: 'the later one for the first call only', isLater: (call: number) => call === 0 },
    { title: 'one and the other in turn', isLater: (call: number) => call % 2 === 0 },
  ])('books the claims of channels and wallet together: $title', async ({ isLater }) => {
    const channel = await openChannel(engine, 3000n, { receiverAuthorizer: `0x${'ab'.repeat(20)}` });
    await charge(engine, channel, 700n);
    await bookClaims(engine.ctx);
    const earlier = await rpc('eth_blockNumber');
    const before = await booksOf(engine, channel);
    await claimAs(engine, channel, 700n);
    let calls = 0;
    engine.proxy.rule('eth_blockNumber', ({ answer }) => answer(earlier));
    engine.proxy.rule('eth_call', async ({ params: [call], answer }) =>
      answer(await rpc('eth_call', call, isLater(calls++) ? 'latest' : earlier)),
    );
    for (const also of [[], [channel.id]]) {
      await bookClaims(engine.ctx, also);
      const { vouchersDue, claimedDue } = await booksOf(engine, channel);
      expect(vouchersDue + claimedDue).toBe(before.vouchersDue + before.claimedDue);
      expect(await suspenseOf(engine.ctx, SETTLEMENT_CONTRACT)).toBe(0n);
    }
    expect(calls).toBeGreaterThan(0);
    engine.proxy.rule('eth_call', null);
    engine.proxy.rule('eth_blockNumber', null);
    await bookClaims(engine.ctx);
    expect(await booksOf(engine, channel)).toMatchObject({ claimed: '700', claimedDue: before.claimedDue + 700n });
    await sweep(engine);
    await bookClaims(engine.ctx);
    expect(await assetsOf(engine)).toMatchObject({ wallet: before.wallet + 700n, claimedDue: before.claimedDue });
  });
});

describe('money that strangers bring in by the contract', () => {
  it('as claims of their channels is kept in suspense, swept or not', async () => {
    const before = await assetsOf(engine);
    const stranger = await openChannel(engine, 3000n, { receiverAuthorizer: `0x${'ab'.repeat(20)}` });
    await askDatabase(engine.databaseUrl, 'delete from channel where id = $1', [stranger.id]);
    await claimAs(engine, stranger, 700n);
    const unbooked = await readReserves(reservesContext());
    expect(unbooked).toMatchObject({ driftMicro: 0n, reserves: { difference: '0.0007' } });
    await bookClaims(engine.ctx);
    expect(await assetsOf(engine)).toMatchObject({ wallet: before.wallet, claimedDue: 700n });
    expect((await readReserves(reservesContext())).driftMicro).toBe(0n);
    await sweep(engine);
    await bookClaims(engine.ctx);
    expect(await assetsOf(engine)).toMatchObject({ wallet: before.wallet + 700n, claimedDue: 0n });
    expect(await suspenseOf(engine.ctx, SETTLEMENT_CONTRACT)).toBe(700n);
  });
});

it('a claim of ours that somebody else brings in, with no claim open, is booked as a claim of its channel', async () => {
  const { ctx } = engine;
  const channel = await openChannel(engine, 3000n);
  await charge(engine, channel, 700n);
  await bookClaims(ctx);
  const [before, suspense] = [await assetsOf(engine), await suspenseOf(ctx, SETTLEMENT_CONTRACT)];
  // As of a transaction that reverted: its calldata is public, and the authorizer's signature in it stays good.
  const signature = signVoucher(ctx.chain, channel.payer, channel.config, 700n);
  const entry = { channelId: channel.id, config: channel.config, maxMicro: 700n, totalMicro: 700n, signature };
  const signed = await ctx.wallet.signHash(channelDigestsOf(ctx.chain.chainId).claimBatchDigest([entry]));
  await sendAs(engine, `0x${'cd'.repeat(20)}`, claimCall([entry], signed));
  await bookClaims(ctx);
  expect(await booksOf(engine, channel)).toMatchObject({
    claimed: '700',
    vouchersDue: before.vouchersDue - 700n,
    claimedDue: before.claimedDue + 700n,
  });
  expect(await suspenseOf(ctx, SETTLEMENT_CONTRACT)).toBe(suspense);
  await sweep(engine);
  await bookClaims(ctx);
  expect(await assetsOf(engine)).toMatchObject({ wallet: before.wallet + 700n, claimedDue: before.claimedDue });
});

it.each([1, 3, 10])('a reorg of %i blocks takes a claim back, and it is claimed again', async (depth) => {
  const channel = await openChannel(engine, 5000n);
  await charge(engine, channel, 2000n);
  await engine.mine(1);
  const before = await assetsOf(engine);
  await engine.ctx.channelClaims.claim('payout');
  expect(await booksOf(engine, channel)).toMatchObject({ claimed: '2000' });
  await engine.mine(depth - 1);
  await rpc('anvil_rollback', depth);
  await rpc('evm_increaseTime', 1);
  await engine.mine(depth + 1);
  await bookClaims(engine.ctx);
  expect(await booksOf(engine, channel), stringify({ depth })).toMatchObject({ claimed: '0', wallet: before.wallet });
  // Younger transactions are left to their sender.
  await askDatabase(engine.databaseUrl, `update chain_transaction set created_at = created_at - interval '1 minute'`);
  await reconcilePayments(engine.ctx, 0);
  await recordClaims(engine.ctx);
  expect(await onChain(channel)).toMatchObject({ claimedMicro: 2000n });
  expect(await booksOf(engine, channel)).toMatchObject({ claimed: '2000', wallet: before.wallet + 2000n });
  expect(await claimsOf(channel)).toMatchObject([{ state: 'done' }]);
});

it('a claim for a former wallet is not booked as one for the wallet, and its money comes with the transfer of that wallet', async () => {
  const { ctx } = engine;
  const former = `0x${'ef'.repeat(20)}` as const;
  const channel = await openChannel(engine, 3000n, { receiver: former, receiverAuthorizer: former });
  await charge(engine, channel, 700n);
  await bookClaims(ctx);
  const [before, suspense] = [await booksOf(engine, channel), await suspenseOf(ctx, SETTLEMENT_CONTRACT)];
  // Sent by a process that had the key of the former wallet.
  await askDatabase(
    engine.databaseUrl,
    `with claim as (
       insert into channel_claim (id, chain_id, reason, transaction_hash, created_at) values ('clm_former', $1, 'stop', '0xformer', now())
       returning id)
     insert into channel_claim_row (claim_id, channel_id, max_micro, total_micro) select id, $2, 700, 700 from claim`,
    [ctx.chain.chainId, channel.id],
  );
  await claimAs(engine, channel, 700n);
  await bookClaims(ctx);
  expect(await booksOf(engine, channel)).toEqual(before);
  expect(await suspenseOf(ctx, SETTLEMENT_CONTRACT)).toBe(suspense);
  await sendAs(engine, `0x${'cd'.repeat(20)}`, sweepCall(former, ctx.chain.token));
  await transferUsdc(engine.chain.rpcUrl, engine, { from: former, to: ctx.chain.wallet, micro: 700n });
  movedMicro = 700n;
});
