import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { refundChannel } from '../../../src/payments/x402/channels/claims/refund-channel.ts';
import { contradictions } from '../../support/books.ts';
import { assetsOf, charge, openChannel } from '../../support/channel-books.ts';
import { signVoucher } from '../../support/channels.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { administer } from '../../support/held-payout.ts';

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

it('while the token refuses the wallet, vouchers are claimed all the same, and swept with a claim after that', async () => {
  const { ctx, chain } = engine;
  const token = { rpcUrl: chain.rpcUrl, ctx };
  const before = (await assetsOf(engine)).wallet;
  const channel = await openChannel(engine, 10_000n);
  await charge(engine, channel, 1000n);
  await administer(token, 'blacklist', ctx.chain.wallet);
  await ctx.channelClaims.claim('payout');
  expect(await assetsOf(engine)).toMatchObject({ wallet: before, claimedDue: 1000n, vouchersDue: 0n });
  await administer(token, 'unBlacklist', ctx.chain.wallet);
  await charge(engine, channel, 500n);
  await ctx.channelClaims.claim('payout');
  expect(await assetsOf(engine)).toMatchObject({ wallet: before + 1500n, claimedDue: 0n, vouchersDue: 0n });
});
