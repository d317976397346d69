import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bookClaims } from '../../../../src/payments/schemes/batch-settlement/claims/book-claims.ts';
import { actOnChannels } from '../../../../src/payments/schemes/batch-settlement/claims/claimer.ts';
import { refundChannel } from '../../../../src/payments/schemes/batch-settlement/claims/refund-channel.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { assetsOf, charge, endCharges, openChannel, requestWithdraw, sweep } from '../../../support/channel-books.ts';
import { signVoucher } from '../../../support/channels.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1, claims: { thresholdMicro: 500n } });
});
afterAll(() => engine.stop());

const DEPOSIT = 5000n;
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      price: fc.bigInt(1n, 600n),
      part: fc.integer({ min: 0, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('in flight' as const), price: fc.bigInt(1n, 300n) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('end', 'due', 'payout', 'book', 'sweep', 'refund' as const) }),
  },
);

it('whatever calls, claims and refunds come before a withdrawal, the wallet gains exactly what was charged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const channel = await openChannel(engine, DEPOSIT);
      const before = await assetsOf(engine);
      let [charged, reserved, balance] = [0n, 0n, DEPOSIT];
      const inFlight: bigint[] = [];
      for (const each of steps) {
        if (each.kind === 'call' && charged + reserved + each.price <= balance && reserved === 0n) {
          const costMicro = (each.price * BigInt(each.part)) / 4n;
          await charge(engine, channel, each.price, { costMicro });
          charged += costMicro;
        } else if (each.kind === 'in flight' && charged + reserved + each.price <= balance) {
          await charge(engine, channel, each.price, { costMicro: null });
          inFlight.push(each.price);
          reserved += each.price;
        } else if (each.kind === 'end' && inFlight.length > 0) {
          await endCharges(engine, channel, 1n);
          charged += BigInt(inFlight.length);
          [reserved, inFlight.length] = [0n, 0];
        } else if (each.kind === 'due' || each.kind === 'payout') await engine.ctx.channelClaims.claim(each.kind);
        else if (each.kind === 'book') await bookClaims(engine.ctx);
        else if (each.kind === 'sweep') await sweep(engine);
        else if (each.kind === 'refund' && reserved === 0n && balance - charged > 10n) {
          const signature = signVoucher(engine.ctx.chain, channel.payer, channel.config, charged);
          const ask = {
            channelId: channel.id,
            voucher: { maxMicro: charged, signature },
            amountMicro: 10n,
            client: null,
          };
          await askDatabase(
            engine.databaseUrl,
            `update channel_refund set created_at = created_at - interval '2 hours'`,
          );
          await refundChannel(engine.ctx, { ...ask, payloadKey: `memo ${balance}` });
          balance -= 10n;
        }
      }
      if (inFlight.length > 0) {
        await endCharges(engine, channel, 1n);
        charged += BigInt(inFlight.length);
      }
      const [state] = await engine.ctx.settlementContract.readChannels([channel.id], null);
      if (state && state.balanceMicro > state.claimedMicro) {
        await requestWithdraw(engine, channel, state.balanceMicro - state.claimedMicro);
        await actOnChannels(engine.ctx);
      }
      await engine.ctx.channelClaims.claim('due');
      await bookClaims(engine.ctx);
      const after = await assetsOf(engine);
      expect(after.wallet - before.wallet).toBe(charged);
      expect([after.vouchersDue, after.claimedDue, after.loss]).toEqual([0n, 0n, 0n]);
      expect(await engine.ctx.usdc.balanceOf(engine.ctx.chain.wallet)).toBe(after.wallet);
      expect(await contradictions(engine.databaseUrl)).toEqual([]);
    }),
    { numRuns: 12 },
  );
});
