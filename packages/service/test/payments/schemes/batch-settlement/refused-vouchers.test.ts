import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newVoucherPayer } from '../../../support/voucher-payer.ts';
import {
  DUE,
  HELD,
  type Headers,
  highS,
  PRICE,
  type RefusalSite,
  startRefusalSite,
  type WrongCase,
} from './support/refusal-site.ts';

const STRANGER = `0x${'12'.repeat(20)}`;
let site: RefusalSite;
beforeAll(async () => {
  site = await startRefusalSite();
});
afterAll(() => site.stop());

const vouchers: WrongCase[] = [
  ['of another network', () => ({ changes: { network: 'eip155:1' } }), 'network_mismatch'],
  ['of an unknown type', () => ({ changes: { payload: { type: 'claim' } } }), 'payload_type'],
  ['of the type refund', () => ({ changes: { payload: { type: 'refund' } } }), 'payload_type'],
  ['of an id that is none', () => ({ changes: { channelId: '0x12' } }), 'channel_id_invalid'],
  ['of a path for an id', () => ({ changes: { channelId: '../../etc' } }), 'channel_id_invalid'],
  ["of another channel's id", () => ({ changes: { channelId: `0x${'12'.repeat(32)}` } }), 'channel_id_mismatch'],
  ['for a receiver put in later', () => ({ changes: { config: { receiver: STRANGER } } }), 'channel_id_mismatch'],
  ['of high s', (p) => ({ changes: { signature: highS(p.sign(DUE)) } }), 'voucher_signature'],
  ['with 63 bytes', (p) => ({ changes: { signature: p.sign(DUE).slice(0, 128) } }), 'voucher_signature'],
  ['with no signature', () => ({ changes: { signature: '0x' } }), 'voucher_signature'],
  ['signed by a stranger', () => ({ changes: { key: `0x${'01'.repeat(32)}` } }), 'voucher_signature'],
  ['signed for another sum', (p) => ({ changes: { signature: p.sign(DUE + 1n) } }), 'voucher_signature'],
  ['above what was deposited', () => ({ prepare: `balance_micro = ${DUE - 1n}` }), 'cumulative_exceeds_balance'],
  ['one unit short', () => ({ max: DUE - 1n, isTold: true }), 'cumulative_amount_mismatch'],
  ['one unit over', () => ({ max: DUE + 1n, isTold: true }), 'cumulative_amount_mismatch'],
  ['for more than 128 bits can hold', () => ({ max: 10n ** 30n, isTold: true }), 'cumulative_amount_mismatch'],
  ['that has paid before, under another offer', () => ({ max: PRICE, isTold: true }), 'cumulative_amount_mismatch'],
  ['for nothing', () => ({ max: 0n }), 'cumulative_below_claimed'],
  [
    'that was claimed',
    () => ({ max: PRICE, prepare: `published_micro = ${PRICE}, claimed_micro = ${PRICE}` }),
    'cumulative_below_claimed',
  ],
  [
    'that a claim has published',
    () => ({ max: PRICE, prepare: `published_micro = ${PRICE}` }),
    'cumulative_amount_mismatch',
  ],
  ['while its payer withdraws', () => ({ prepare: 'withdraw_requested_at = now()' }), 'missing_channel'],
  [
    'of a channel that is closed',
    () => ({ prepare: `published_micro = ${DUE}, signed_micro = ${DUE}` }),
    'missing_channel',
  ],
  ['while a refund is under way', () => ({ prepare: `refund_id = 'crf_1'` }), 'channel_busy'],
];

describe.each(['keyed', 'keyless'] as const)('a voucher shown for a %s call', (face) => {
  const call = (headers?: Headers) => site[face](headers);

  it.each(vouchers)('%s: nothing runs, is charged or told', async (_what, make, code) => {
    const payer = await site.usedPayer(call);
    const { max = DUE, changes = {}, prepare, isTold = false } = make(payer);
    if (prepare) await site.setChannel(payer, prepare);
    const headers = payer.pay(await call(), max, changes);
    await site.expectRefused(payer, () => call(headers), { code, isTold });
    await site.setChannel(payer, 'published_micro = 0, claimed_micro = 0');
  });

  it.each([
    ['for another receiver', { receiver: STRANGER }, 'receiver_mismatch'],
    ['for another authorizer', { receiverAuthorizer: STRANGER }, 'receiver_authorizer_mismatch'],
    ['of another token', { token: STRANGER }, 'token_mismatch'],
    ['of another delay', { withdrawDelayS: 900 }, 'withdraw_delay_mismatch'],
    ['of a delay out of range', { withdrawDelayS: 899 }, 'withdraw_delay_out_of_range'],
    ['without a signing key of its own', { payerAuthorizer: `0x${'00'.repeat(20)}` }, 'voucher_signature'],
  ])('of a channel %s', async (_what, change, code) => {
    const payer = newVoucherPayer(site.h, change);
    await payer.fund(HELD);
    const headers = payer.pay(await call(), PRICE);
    await site.expectRefused(payer, () => call(headers), { code });
  });

  it('of a channel that the node does not know', async () => {
    const payer = newVoucherPayer(site.h);
    const headers = payer.pay(await call(), PRICE);
    await site.expectRefused(payer, () => call(headers), { code: 'channel_not_found' });
  });

  it('for an offer with another memo, or one made for the other way to call', async () => {
    const payer = await site.usedPayer();
    const elsewhere = face === 'keyed' ? site.keyless : site.keyed;
    const changed = payer.pay(await call(), DUE, { extra: { memo: 'req_1' } });
    for (const headers of [changed, payer.pay(await elsewhere(), DUE)])
      await site.expectRefused(payer, () => call(headers), { code: '=invalid_offer' });
  });
});

it('a voucher that has paid is a conflict for another task', async () => {
  const payer = await site.usedPayer();
  const headers = payer.pay(await site.keyed(), DUE);
  expect((await site.keyed(headers)).status).toBe(200);
  await site.expectRefused(payer, () => site.keyed(headers, 'another'), {
    code: '=used_for_another_request',
    status: 409,
  });
});

it('a voucher shown for a treasury deposit is refused: channels pay for calls', async () => {
  const payer = await site.usedPayer();
  const headers = payer.pay(await site.keyed(), DUE);
  const { key } = await site.h.newAccount();
  await site.h.request('POST', '/payments/treasury', { key, body: {} });
  const show = () => site.h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '1' }, headers });
  await site.expectRefused(payer, show, { code: '=unsupported_scheme' });
});
