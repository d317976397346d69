import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reconcilePayments } from '../../../../src/payments/reconcile/reconcile.ts';
import { bookClaims } from '../../../../src/payments/schemes/batch-settlement/claims/book-claims.ts';
import type { ClaimContext } from '../../../../src/payments/schemes/batch-settlement/claims/claim-context.ts';
import { recordClaims } from '../../../../src/payments/schemes/batch-settlement/claims/record-claims.ts';
import { refundChannel } from '../../../../src/payments/schemes/batch-settlement/claims/refund-channel.ts';
import type { RefundAsk } from '../../../../src/payments/schemes/batch-settlement/claims/refund-plan.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { type BookedTestChannel, charge, endCharges, openChannel } from '../../../support/channel-books.ts';
import { signVoucher } from '../../../support/channels.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1, claims: { minRefundMicro: 100n, refundsPerDay: 3 } });
  await engine.mine(20);
});
afterEach(async () => expect(await contradictions(engine.databaseUrl)).toEqual([]));
afterAll(() => engine.stop());

let keys = 0;
const ask = (
  { id, config, payer }: BookedTestChannel,
  maxMicro: bigint,
  changes: Partial<RefundAsk> = {},
): RefundAsk => ({
  channelId: id,
  voucher: { maxMicro, signature: signVoucher(engine.ctx.chain, payer, config, maxMicro) },
  amountMicro: null,
  payloadKey: `memo ${keys++}`,
  client: null,
  ...changes,
});
const refund = (request: RefundAsk) => refundChannel(engine.ctx, request);
const refused = (code: string) => ({ kind: 'refused', reason: `invalid_batch_settlement_evm_${code}` });
const onChain = async ({ id }: BookedTestChannel) => (await engine.ctx.settlementContract.readChannels([id], null))[0];
const rowOf = async ({ id }: BookedTestChannel) => {
  const [row] = await askDatabase<{ balance: string; refund: string | null; nonce: string }>(
    engine.databaseUrl,
    'select balance_micro::text as balance, refund_id as refund, refund_nonce::text as nonce from channel where id = $1',
    [id],
  );
  return row;
};

describe('a cooperative refund', () => {
  it('claims what was charged and gives the rest back, to the unit', async () => {
    const channel = await openChannel(engine, 10_000n);
    await charge(engine, channel, 1234n);
    const request = ask(channel, 1234n);
    const answer = await refund(request);
    expect(answer).toMatchObject({ kind: 'refunded', amountMicro: 8766n });
    expect(await engine.ctx.usdc.balanceOf(channel.payer.address)).toBe(8766n);
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 1234n, claimedMicro: 1234n, refundNonce: 1n });
    expect(await rowOf(channel)).toEqual({ balance: '1234', refund: null, nonce: '1' });
    // The same payload gets the same answer, and no second refund.
    expect(await refund(request)).toEqual(answer);
    expect(await refund(ask(channel, 1234n))).toEqual(refused('refund_no_balance'));
    expect(await onChain(channel)).toMatchObject({ refundNonce: 1n });
  });

  it('shown many times at once is made once', async () => {
    const channel = await openChannel(engine, 5000n);
    const request = ask(channel, 0n);
    const answers = await Promise.all(Array.from({ length: 5 }, () => refund(request)));
    expect(answers[0]).toMatchObject({ kind: 'refunded', amountMicro: 5000n });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 0n, refundNonce: 1n });
    expect(await engine.ctx.usdc.balanceOf(channel.payer.address)).toBe(5000n);
  });

  it('of a part leaves the rest for calls, and waits for calls in flight', async () => {
    const channel = await openChannel(engine, 5000n);
    const max = await charge(engine, channel, 1000n, { costMicro: null });
    const asked = refund(ask(channel, 600n, { amountMicro: 2000n }));
    await endCharges(engine, channel, 600n);
    expect(max).toBe(1000n);
    expect(await asked).toMatchObject({ kind: 'refunded', amountMicro: 2000n });
    expect(await rowOf(channel)).toMatchObject({ balance: '3000', refund: null });
    await charge(engine, channel, 2400n);
    await engine.ctx.channelClaims.claim('payout');
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 3000n, claimedMicro: 3000n });
  });

  it.each<[string, bigint, Partial<RefundAsk>, string]>([
    ['of more than is left', 500n, { amountMicro: 4501n }, 'refund_amount_invalid'],
    ['of nothing', 500n, { amountMicro: 0n }, 'refund_amount_invalid'],
    ['of a part that is not worth its gas', 500n, { amountMicro: 99n }, 'refund_amount_invalid'],
    ['with a voucher for less than was charged', 499n, {}, 'cumulative_amount_mismatch'],
    ['with a voucher for more', 501n, {}, 'cumulative_amount_mismatch'],
    ['of a channel that is not there', 500n, { channelId: `0x${'00'.repeat(32)}` }, 'channel_not_found'],
  ])('%s is refused by its code, and nothing is sent', async (_what, max, changes, code) => {
    const channel = await openChannel(engine, 5000n);
    await charge(engine, channel, 500n);
    expect(await refund(ask(channel, max, changes))).toEqual(refused(code));
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 5000n, refundNonce: 0n });
  });

  it('waits for a call that comes in between its plan and its transaction', async () => {
    const channel = await openChannel(engine, 5000n);
    const { claimSimulator, settlementContract } = engine.ctx;
    const steps: string[] = [];
    const ctx: ClaimContext = {
      ...engine.ctx,
      claimSimulator: {
        ...claimSimulator,
        simulate: async (data) => {
          const reason = await claimSimulator.simulate(data);
          if (steps.push('simulated') === 1) await charge(engine, channel, 500n, { costMicro: null });
          return reason;
        },
      },
      settlementContract: {
        ...settlementContract,
        readChannels: async (...of) => {
          if (steps.length === 1 && steps.push('read again')) await endCharges(engine, channel, 0n);
          return settlementContract.readChannels(...of);
        },
      },
    };
    expect(await refundChannel(ctx, ask(channel, 0n))).toMatchObject({ kind: 'refunded', amountMicro: 5000n });
    expect(steps).toEqual(['simulated', 'read again', 'simulated']);
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 0n, refundNonce: 1n });
  });

  it('while calls stay in flight is refused as busy', async () => {
    const channel = await openChannel(engine, 5000n);
    await charge(engine, channel, 500n, { costMicro: null });
    expect(await refund(ask(channel, 0n))).toEqual(refused('channel_busy'));
    await endCharges(engine, channel, 0n);
  });
});

it('parts are refunded a few times an hour, and all that is left once an hour whatever came before', async () => {
  const channel = await openChannel(engine, 5000n);
  const part = { amountMicro: 1000n };
  expect(await refund(ask(channel, 0n, part))).toMatchObject({ kind: 'refunded' });
  expect(await refund(ask(channel, 0n, part))).toMatchObject({ kind: 'refunded' });
  await expect(refund(ask(channel, 0n, part))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await expect(refund(ask(channel, 0n))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await askDatabase(engine.databaseUrl, `update channel_refund set created_at = created_at - interval '61 minutes'`);
  expect(await refund(ask(channel, 0n))).toMatchObject({ kind: 'refunded', amountMicro: 3000n });
});

it('a payer that has had its refunds of the day gets one in an hour, however many channels it opens', async () => {
  const payer = await engine.newPayer(20_000n);
  const refundNew = async () => refund(ask(await openChannel(engine, 4000n, {}, payer), 0n));
  for (let count = 0; count < 3; count++) expect(await refundNew()).toMatchObject({ kind: 'refunded' });
  await expect(refundNew()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await askDatabase(engine.databaseUrl, `update channel_refund set created_at = created_at - interval '61 minutes'`);
  expect(await refundNew()).toMatchObject({ kind: 'refunded', amountMicro: 4000n });
  await expect(refundNew()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
});

it('a network gets in an hour what a payer gets in a day, whoever asks there; those elsewhere get theirs', async () => {
  const refundNew = async (client: string | null) => refund(ask(await openChannel(engine, 4000n), 0n, { client }));
  const refundAll = async () => {
    for (let count = 0; count < 3; count++) expect(await refundNew('192.0.2.1')).toMatchObject({ kind: 'refunded' });
    await expect(refundNew('192.0.2.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  };
  await refundAll();
  expect(await refundNew(null)).toMatchObject({ kind: 'refunded' });
  await askDatabase(engine.databaseUrl, `update channel_refund set created_at = created_at - interval '61 minutes'`);
  await refundAll();
});

it.each([1, 3, 10])(
  'a reorg of %i blocks that takes a refund back closes the channel until its bytes are mined again',
  async (depth) => {
    const channel = await openChannel(engine, 5000n);
    await engine.mine(1);
    const answer = await refund(ask(channel, 0n));
    expect(answer).toMatchObject({ kind: 'refunded' });
    await engine.mine(depth - 1);
    await callChain(engine.chain.rpcUrl, 'anvil_rollback', depth);
    await callChain(engine.chain.rpcUrl, 'evm_increaseTime', 1);
    await engine.mine(depth + 1);
    expect(await onChain(channel)).toMatchObject({ refundNonce: 0n });
    await engine.ctx.reorgWatch.look();
    await recordClaims(engine.ctx);
    expect((await rowOf(channel))?.refund).not.toBeNull();
    await askDatabase(engine.databaseUrl, `update chain_transaction set created_at = created_at - interval '1 minute'`);
    await reconcilePayments(engine.ctx, 0);
    await recordClaims(engine.ctx);
    await bookClaims(engine.ctx);
    expect(await rowOf(channel)).toMatchObject({ refund: null, balance: '0' });
    expect(await engine.ctx.usdc.balanceOf(channel.payer.address)).toBe(5000n);
  },
);
