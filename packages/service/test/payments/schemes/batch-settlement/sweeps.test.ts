import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createClaimer } from '../../../../src/payments/schemes/batch-settlement/claims/claimer.ts';
import { refundChannel } from '../../../../src/payments/schemes/batch-settlement/claims/refund-channel.ts';
import { createWalletFunds } from '../../../../src/payments/schemes/batch-settlement/claims/wallet-funds.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { assetsOf, charge, openChannel } from '../../../support/channel-books.ts';
import { signVoucher } from '../../../support/channels.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { administer } from '../../../support/held-payout.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1 });
});
afterEach(async () => expect(await contradictions(engine.databaseUrl)).toEqual([]));
afterAll(() => engine.stop());

it('a refund brings what it claims into the wallet', async () => {
  const channel = await openChannel(engine, 10_000n);
  const maxMicro = await charge(engine, channel, 1234n);
  const signature = signVoucher(engine.ctx.chain, channel.payer, channel.config, maxMicro);
  const ask = { channelId: channel.id, voucher: { maxMicro, signature }, amountMicro: null, payloadKey: 'all' };
  expect(await refundChannel(engine.ctx, { ...ask, client: null })).toMatchObject({ amountMicro: 8766n });
  expect(await engine.ctx.usdc.balanceOf(engine.ctx.chain.wallet)).toBe(1234n);
  expect(await assetsOf(engine)).toMatchObject({ wallet: 1234n, claimedDue: 0n, vouchersDue: 0n });
});

/** A claim of 1000 that the token has let nobody sweep, and the wallet before it. */
async function claimWhileRefused() {
  const { ctx, chain } = engine;
  const token = { rpcUrl: chain.rpcUrl, ctx };
  const before = (await assetsOf(engine)).wallet;
  const channel = await openChannel(engine, 10_000n);
  await charge(engine, channel, 1000n);
  await administer(token, 'blacklist', ctx.chain.wallet);
  await ctx.channelClaims.claim('payout');
  return { before, channel, acceptAgain: () => administer(token, 'unBlacklist', ctx.chain.wallet) };
}

it('while the token refuses the wallet, vouchers are claimed all the same, and swept with a claim after that', async () => {
  const { ctx } = engine;
  const { before, channel, acceptAgain } = await claimWhileRefused();
  expect(await assetsOf(engine)).toMatchObject({ wallet: before, claimedDue: 1000n, vouchersDue: 0n });
  await acceptAgain();
  await charge(engine, channel, 500n);
  await ctx.channelClaims.claim('payout');
  expect(await assetsOf(engine)).toMatchObject({ wallet: before + 1500n, claimedDue: 0n, vouchersDue: 0n });
});

it.each(['due', 'payout'] as const)(
  'what was claimed while the token refused the wallet is swept, once, with no other claim to make (%s)',
  async (mode) => {
    const { ctx } = engine;
    const { before, channel, acceptAgain } = await claimWhileRefused();
    await ctx.channelClaims.claim(mode);
    expect(await assetsOf(engine)).toMatchObject({ wallet: before, claimedDue: 1000n });
    await acceptAgain();
    await Promise.all([ctx.channelClaims.claim(mode), createClaimer(ctx).claim(mode)]);
    await ctx.channelClaims.claim(mode);
    expect(await assetsOf(engine)).toMatchObject({ wallet: before + 1000n, claimedDue: 0n, vouchersDue: 0n });
    expect(await sweepsSince(channel.id)).toBe(1);
  },
);

/** Transactions of claims without any channel, after the last claim of a channel. */
async function sweepsSince(channelId: string): Promise<number> {
  const [row] = await askDatabase<{ n: number }>(
    engine.databaseUrl,
    `select count(*)::int as n from channel_claim k
      where not exists (select from channel_claim_row r where r.claim_id = k.id)
        and k.created_at > (select max(o.created_at) from channel_claim o join channel_claim_row r on r.claim_id = o.id where r.channel_id = $1)`,
    [channelId],
  );
  return row?.n ?? 0;
}

it('a payout has what was claimed and not swept', async () => {
  const { ctx } = engine;
  const { acceptAgain } = await claimWhileRefused();
  await acceptAgain();
  const holds = await ctx.usdc.balanceOf(ctx.chain.wallet);
  await createWalletFunds(ctx, ctx.channelClaims).ensure(holds + 1000n);
  expect(await ctx.usdc.balanceOf(ctx.chain.wallet)).toBe(holds + 1000n);
});
