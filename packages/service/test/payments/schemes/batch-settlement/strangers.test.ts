import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { decodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase } from '../../../support/books.ts';
import { requiredBy, type VoucherChanges, type VoucherPayer } from '../../../support/voucher-payer.ts';
import {
  type Call,
  type Headers,
  MIN_DEPOSIT,
  PRICE,
  type RefusalSite,
  startRefusalSite,
} from './support/refusal-site.ts';

let site: RefusalSite;
let payer: VoucherPayer;
/** The voucher that a claim has put on the chain. */
let published: { maxMicro: bigint; signature: string };

beforeAll(async () => {
  site = await startRefusalSite({ KEYLESS_INVOCATIONS_PER_HOUR: '4' });
  payer = await site.richPayer();
  const { keyless, h } = site;
  const deposit = { payload: await payer.deposit(MIN_DEPOSIT) };
  expect((await keyless(payer.pay(await keyless(), PRICE, deposit))).status).toBe(200);
  expect((await keyless(payer.pay(await keyless(), 2n * PRICE))).status).toBe(200);
  await h.ctx.channelClaims.claim('payout');
  published = await claimedOnChain();
  expect(published.maxMicro).toBe(2n * PRICE);
  // The last voucher is nobody's but the payer's.
  expect((await keyless(payer.pay(await keyless(), 3n * PRICE))).status).toBe(200);
});
afterAll(() => site.stop());

/** What anybody reads in the transaction of the claim. */
async function claimedOnChain() {
  const { databaseUrl, rpcUrl } = site.h;
  const text = 'select transaction_hash as hash from channel_claim order by created_at desc limit 1';
  const [claim] = await askDatabase<{ hash: string }>(databaseUrl, text);
  const { input } = await callChain<{ input: Hex }>(rpcUrl, 'eth_getTransactionByHash', claim?.hash);
  const abi = batchSettlementAbi;
  const calls = decodeFunctionData({ abi, data: input }).args?.[0] as unknown as Hex[];
  const rows = calls.map((data) => decodeFunctionData({ abi, data })).find(({ args }) => Array.isArray(args?.[0]));
  const claimed = rows?.args?.[0] as unknown as { voucher: { maxClaimableAmount: bigint }; signature: string }[];
  return { maxMicro: claimed[0]?.voucher.maxClaimableAmount ?? 0n, signature: claimed[0]?.signature ?? '' };
}

/** A stranger's header: the channel and the voucher are copied from the chain, the offer is his own. */
const copied = async (call: Call, changes: VoucherChanges = {}): Promise<Headers> =>
  payer.pay(await call(), published.maxMicro, { signature: published.signature, ...changes });

describe('a stranger that presents a voucher published by a claim', () => {
  it.each(['keyed', 'keyless'] as const)(
    'for a %s call is refused without a run, a charge, a disclosure or a turn',
    async (face) => {
      for (let count = 0; count < 3; count++) {
        const headers = await copied(site[face]);
        await site.expectRefused(payer, () => site[face](headers), { code: 'cumulative_below_claimed' });
      }
    },
  );

  it('without a key opens no account for a payer that has always called with one', async () => {
    const other = await site.usedPayer();
    await site.setChannel(other, `published_micro = ${PRICE}`);
    const headers = other.pay(await site.keyless(), PRICE);
    await site.expectRefused(other, () => site.keyless(headers), { code: 'cumulative_amount_mismatch' });
    await site.setChannel(other, 'published_micro = 0');
  });

  it('with a deposit of his own making moves nothing', async () => {
    const deposit = await payer.deposit(MIN_DEPOSIT, { signature: `0x${'11'.repeat(65)}` });
    const headers = await copied(site.keyless, { payload: deposit });
    await site.expectRefused(payer, () => site.keyless(headers), { code: 'cumulative_below_claimed' });
  });

  it('for a refund is refused, without disclosing the sum', async () => {
    const headers = await copied(site.askRefund, { payload: { type: 'refund' } });
    await site.expectRefused(payer, () => site.askRefund(headers), { code: 'cumulative_amount_mismatch' });
  });

  it('and changes the sum or the payer is refused, as the signature does not match', async () => {
    const more = payer.pay(await site.keyless(), 4n * PRICE, { signature: published.signature });
    await site.expectRefused(payer, () => site.keyless(more), { code: 'voucher_signature' });
    const his = await copied(site.keyless, { config: { payer: `0x${'12'.repeat(20)}` } });
    await site.expectRefused(payer, () => site.keyless(his), { code: 'channel_id_mismatch' });
  });
});

it('a payment that was seen on the wire pays for no call of another caller', async () => {
  const seen = payer.pay(await site.keyless(), 4n * PRICE);
  await site.expectRefused(payer, () => site.keyed(seen), { code: '=invalid_offer' });
});

it('strangers neither use up nor delay the payer’s calls: a wrong sum is corrected at once', async () => {
  const stale = await site.keyless(payer.pay(await site.keyless(), 3n * PRICE));
  expect(requiredBy(stale).accepts[1].extra.channelState).toMatchObject({
    chargedCumulativeAmount: String(3n * PRICE),
  });
  const headers = payer.pay(stale, 4n * PRICE);
  await site.expectRefused(payer, async () => site.keyless(await copied(site.keyless)), {
    code: 'cumulative_below_claimed',
  });
  expect((await site.keyless(headers)).body.data).toMatchObject({ status: 'completed' });
});

it('a process that drains refunds no channel, and still says what a refund takes', async () => {
  const headers = payer.pay(await site.askRefund(), 3n * PRICE, { payload: { type: 'refund' } });
  site.h.ctx.drain.hear(true);
  const [refused, asked] = [await site.askRefund(headers), await site.askRefund()];
  site.h.ctx.drain.hear(false);
  expect([refused.status, refused.body.error.code, asked.status]).toEqual([503, 'UNAVAILABLE', 402]);
});
