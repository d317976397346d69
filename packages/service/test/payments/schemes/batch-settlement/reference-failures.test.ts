import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SETTLEMENT_CONTRACT } from '../../../../src/chain/channels/channel-calls.ts';
import { actOnChannels } from '../../../../src/payments/schemes/batch-settlement/claims/claimer.ts';
import { sendAs } from '../../../support/chain-actions.ts';
import { echo } from '../../../support/test-agent.ts';
import { newVoucherPayer, requiredBy, settledBy, type VoucherPayer } from '../../../support/voucher-payer.ts';
import {
  DUE,
  HELD,
  highS,
  lowV,
  MIN_DEPOSIT,
  PRICE,
  type RefusalSite,
  startRefusalSite,
} from './support/refusal-site.ts';

let site: RefusalSite;
beforeAll(async () => {
  site = await startRefusalSite({ CHANNEL_CLAIM_THRESHOLD: '100' });
});
afterAll(() => site.stop());

const claimedOf = async ({ channelId }: VoucherPayer) =>
  (await site.h.ctx.settlementContract.readChannels([channelId], null))[0]?.claimedMicro;

/** The payer asks the contract for all that is in its channel. */
const withdraw = ({ config }: VoucherPayer) => {
  const { withdrawDelayS, ...rest } = config;
  const args = [{ ...rest, withdrawDelay: withdrawDelayS }, MIN_DEPOSIT] as never;
  const data = encodeFunctionData({ abi: batchSettlementAbi, functionName: 'initiateWithdraw', args });
  return sendAs(site.h.rpcUrl, config.payer, SETTLEMENT_CONTRACT, data);
};

/**
 * What the reference server of the scheme was seen to do. The seventh, a server that loses its memory and with it what it has not claimed:
 * several-processes.test.ts.
 */
describe('of the failures of the reference server', () => {
  it('1: signatures that the contract refuses are refused, or taken in its form, and hold up no claim', async () => {
    const payer = await site.depositor();
    const high = payer.pay(await site.keyed(), DUE, { signature: highS(payer.sign(DUE)) });
    await site.expectRefused(payer, () => site.keyed(high), { code: 'voucher_signature' });
    const low = payer.pay(await site.keyed(), DUE, { signature: lowV(payer.sign(DUE)) });
    expect((await site.keyed(low)).status).toBe(200);
    await site.h.ctx.channelClaims.claim('payout');
    expect(await claimedOf(payer)).toBe(DUE);
  });

  it('2: no voucher is taken that code signs for: code may say something else when it is claimed', async () => {
    const payer = newVoucherPayer(site.h, { payerAuthorizer: `0x${'00'.repeat(20)}` });
    await payer.fund(HELD);
    const headers = payer.pay(await site.keyed(), PRICE);
    await site.expectRefused(payer, () => site.keyed(headers), { code: 'voucher_signature' });
  });

  it('3: of a payer that withdraws no voucher is taken, all is claimed at once, what a call in flight may cost included', async () => {
    const payer = await site.depositor();
    const called = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    site.agent.behave(async (request, response) => {
      called.resolve();
      await answered.promise;
      await echo(request, response);
    });
    const inFlight = site.keyed(payer.pay(await site.keyed(), DUE));
    await called.promise;
    await withdraw(payer);
    await actOnChannels(site.h.ctx);
    const late = payer.pay(await site.keyed(), 3n * PRICE);
    await site.expectRefused(payer, () => site.keyed(late), { code: 'missing_channel' });
    await site.h.ctx.channelClaims.claim('due');
    expect(await claimedOf(payer)).toBe(DUE);
    site.agent.behave(echo);
    answered.resolve();
    expect((await inFlight).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    await site.h.ctx.channelClaims.claim('due');
    expect(await claimedOf(payer)).toBe(DUE);
  });

  it('4: a stranger who knows a channel from the events of the contract can neither read nor refund it', async () => {
    const payer = await site.depositor();
    const key = `0x${'01'.repeat(32)}` as Hex;
    for (const max of [0n, PRICE, DUE]) {
      const call = payer.pay(await site.keyless(), max, { key });
      await site.expectRefused(payer, () => site.keyless(call), { code: 'voucher_signature' });
      const refund = payer.pay(await site.askRefund(), max, { key, payload: { type: 'refund' } });
      await site.expectRefused(payer, () => site.askRefund(refund), { code: 'voucher_signature' });
    }
  });

  it('5: a payload whose answer was lost is one run and one charge, however often it is shown', async () => {
    const payer = await site.usedPayer();
    const before = site.agent.calls.length;
    const headers = payer.pay(await site.keyed(), DUE);
    const answers = [...(await Promise.all([site.keyed(headers), site.keyed(headers)])), await site.keyed(headers)];
    expect(new Set(answers.map(({ body }) => body.data.requestId)).size).toBe(1);
    expect(site.agent.calls.length - before).toBe(1);
    for (const answer of answers)
      expect(settledBy(answer).extra.channelState.chargedCumulativeAmount).toBe(String(DUE));
  });

  it('6: eight parallel calls of one channel are all answered, after one correction each', async () => {
    const payer = await site.usedPayer();
    const call = async () => {
      const first = await site.keyed(payer.pay(await site.keyed(), DUE));
      if (first.status === 200) return first;
      const { channelState } = requiredBy(first).accepts[1].extra;
      return site.keyed(payer.pay(first, BigInt(channelState.chargedCumulativeAmount) + PRICE));
    };
    const answers = await Promise.all(Array.from({ length: 8 }, call));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const sums = answers.map((answer) => settledBy(answer).extra.channelState.chargedCumulativeAmount);
    expect(
      sums
        .map(Number)
        .sort((a, b) => a - b)
        .at(-1),
    ).toBe(Number(9n * PRICE));
  });
});
