import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newVoucherPayer, type VoucherPayer } from '../../../support/voucher-payer.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import {
  HELD,
  type Headers,
  highS,
  MIN_DEPOSIT,
  PRICE,
  type RefusalSite,
  startRefusalSite,
  type WrongCase,
} from './support/refusal-site.ts';

let site: RefusalSite;
let depositor: VoucherPayer;
beforeAll(async () => {
  site = await startRefusalSite();
  depositor = await site.depositor();
});
afterAll(() => site.stop());

const deposits: [string, (payer: VoucherPayer) => Promise<object>, string][] = [
  ['below the minimum', (p) => p.deposit(MIN_DEPOSIT - 1n), 'deposit_below_min_deposit'],
  ['of nothing', (p) => p.deposit(0n), 'deposit_below_min_deposit'],
  ['of more than the wallet holds', (p) => p.deposit(HELD + 1n), 'insufficient_balance'],
  ['of more than 64 bits can hold', (p) => p.deposit(10n ** 30n), 'insufficient_balance'],
  ['that has expired', (p) => p.deposit(MIN_DEPOSIT, { validBefore: 1n }), 'payload_authorization_valid_before'],
  [
    'valid for more than a day',
    (p) => p.deposit(MIN_DEPOSIT, { validBefore: 10n ** 17n }),
    'payload_authorization_valid_before',
  ],
  [
    'that is not valid yet',
    (p) => p.deposit(MIN_DEPOSIT, { validAfter: 2n ** 40n }),
    'payload_authorization_valid_after',
  ],
  [
    'signed by nobody',
    (p) => p.deposit(MIN_DEPOSIT, { signature: `0x${'11'.repeat(65)}` }),
    'receive_authorization_signature',
  ],
  ['that is not signed', (p) => p.deposit(MIN_DEPOSIT, { signature: '0x' }), 'receive_authorization_signature'],
  ["signed for another payer's channel", () => depositor.deposit(MIN_DEPOSIT), 'receive_authorization_signature'],
  [
    'by Permit2',
    async () => ({ type: 'deposit', deposit: { amount: '200000', authorization: { permit2Authorization: {} } } }),
    'erc3009_authorization_required',
  ],
  ['that is missing', async () => ({ type: 'deposit' }), 'payload_type'],
];

describe.each(['keyed', 'keyless'] as const)('a deposit shown for a %s call', (face) => {
  const call = (headers?: Headers) => site[face](headers);

  it.each(deposits)('%s: nothing runs and nothing moves', async (_what, deposit, code) => {
    const payer = await site.richPayer();
    const headers = payer.pay(await call(), PRICE, { payload: await deposit(payer) });
    await site.expectRefused(payer, () => call(headers), { code });
  });

  it('with a voucher for a wrong sum is not taken', async () => {
    const payer = await site.richPayer();
    const headers = payer.pay(await call(), PRICE + 1n, { payload: await payer.deposit(MIN_DEPOSIT) });
    await site.expectRefused(payer, () => call(headers), { code: 'cumulative_amount_mismatch' });
  });

  it('with a voucher signed by a stranger is not taken', async () => {
    const payer = await site.richPayer();
    const changes = { payload: await payer.deposit(MIN_DEPOSIT), key: `0x${'01'.repeat(32)}` } as const;
    const headers = payer.pay(await call(), PRICE, changes);
    await site.expectRefused(payer, () => call(headers), { code: 'voucher_signature' });
  });
});

const refund = { type: 'refund' };
const refunds: WrongCase[] = [
  ['of the type voucher', () => ({}), 'refund_payload'],
  ['of the type deposit', () => ({ changes: { payload: { type: 'deposit' } } }), 'refund_payload'],
  ['of another network', () => ({ changes: { payload: refund, network: 'eip155:1' } }), 'network_mismatch'],
  ['of an id that is none', () => ({ changes: { payload: refund, channelId: '0x' } }), 'channel_id_invalid'],
  [
    "of another channel's id",
    () => ({ changes: { payload: refund, channelId: `0x${'12'.repeat(32)}` } }),
    'channel_id_mismatch',
  ],
  [
    'signed by a stranger',
    () => ({ changes: { payload: refund, key: `0x${'01'.repeat(32)}` as const } }),
    'voucher_signature',
  ],
  ['of high s', (p) => ({ changes: { payload: refund, signature: highS(p.sign(PRICE)) } }), 'voucher_signature'],
  [
    'for one unit less',
    () => ({ max: PRICE - 1n, changes: { payload: refund }, isTold: true }),
    'cumulative_amount_mismatch',
  ],
  [
    'for one unit more',
    () => ({ max: PRICE + 1n, changes: { payload: refund }, isTold: true }),
    'cumulative_amount_mismatch',
  ],
  ['of nothing', () => ({ changes: { payload: { ...refund, amount: '0' } } }), 'refund_amount_invalid'],
  [
    'of more than is left',
    () => ({ changes: { payload: { ...refund, amount: String(MIN_DEPOSIT - PRICE + 1n) } } }),
    'refund_amount_invalid',
  ],
  [
    'of a part that is not worth its gas',
    () => ({ changes: { payload: { ...refund, amount: '9999' } } }),
    'refund_amount_invalid',
  ],
  [
    'of more than 64 bits can hold',
    () => ({ changes: { payload: { ...refund, amount: '9'.repeat(31) } } }),
    'refund_amount_invalid',
  ],
];

describe('a refund', () => {
  it.each(refunds)('%s: nothing moves', async (_what, make, code) => {
    const { max = PRICE, changes = {}, isTold = false } = make(depositor);
    const headers = depositor.pay(await site.askRefund(), max, changes);
    await site.expectRefused(depositor, () => site.askRefund(headers), { code, isTold });
  });

  it('of a channel that the node does not know, and of one that holds nothing', async () => {
    const unknown = newVoucherPayer(site.h);
    const headers = unknown.pay(await site.askRefund(), 0n, { payload: refund });
    await site.expectRefused(unknown, () => site.askRefund(headers), { code: 'channel_not_found' });
    // The books say that it holds something; the contract does not.
    const empty = newVoucherPayer(site.h);
    await empty.fund(HELD);
    const ofEmpty = empty.pay(await site.askRefund(), 0n, { payload: refund });
    await site.expectRefused(empty, () => site.askRefund(ofEmpty), { code: 'refund_no_balance' });
  });

  it('by a payment of the scheme exact', async () => {
    const headers = await payV2(site.h, await site.h.newWallet(PRICE), await site.keyless());
    await site.expectRefused(depositor, () => site.askRefund(headers), { code: 'refund_payload' });
  });

  it('after too many is refused for an hour, and counted', async () => {
    const payer = await site.richPayer();
    const deposit = { payload: await payer.deposit(MIN_DEPOSIT) };
    expect((await site.keyed(payer.pay(await site.keyed(), PRICE, deposit))).status).toBe(200);
    const part = async () => payer.pay(await site.askRefund(), PRICE, { payload: { ...refund, amount: '10000' } });
    for (let count = 0; count < 2; count++) expect((await site.askRefund(await part())).status).toBe(200);
    const headers = await part();
    await site.expectRefused(payer, () => site.askRefund(headers), { code: '=refunded_too_often', status: 429 });
  });
});
