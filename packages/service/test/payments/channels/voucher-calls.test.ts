import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../../support/books.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import {
  newVoucherPayer,
  requiredBy,
  settledBy,
  type VoucherChanges,
  type VoucherPayer,
} from '../../support/voucher-payer.ts';

const PRICE = 50_000n;
let h: Harness;
let agent: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true' } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  account = await h.newAccount();
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const path = () => `/invoke/${agent.id}`;
const ask = (task = 'hello', key = account.key) => h.request('POST', path(), { key, body: { task } });
const call = (headers: Record<string, string>, task = 'hello', key = account.key): Promise<Answer> =>
  h.request('POST', path(), { key, body: { task }, headers });
const funded = async (balanceMicro = 1_000_000n): Promise<VoucherPayer> => {
  const payer = newVoucherPayer(h);
  await payer.fund(balanceMicro);
  return payer;
};
/** One paid call on a channel at this sum. */
const buy = async (payer: VoucherPayer, maxMicro: bigint, task = 'hello') =>
  call(payer.pay(await ask(task), maxMicro), task);
const channelOf = async (payer: VoucherPayer) =>
  (
    await askDatabase<Record<string, string>>(
      h.databaseUrl,
      `select charged_micro, reserved_micro, signed_micro, signature from channel where id = $1`,
      [payer.channelId],
    )
  )[0];

describe('a call paid by a voucher', () => {
  it('is offered beside exact, runs, and answers what it was charged', async () => {
    const unpaid = await ask();
    expect(unpaid.status).toBe(402);
    expect(requiredBy(unpaid).accepts.map(({ scheme }: { scheme: string }) => scheme)).toEqual([
      'exact',
      'batch-settlement',
    ]);
    expect(unpaid.body.accepts.map(({ scheme }: { scheme: string }) => scheme)).toEqual(['exact']);
    const payer = await funded();
    const paid = await call(payer.pay(unpaid, PRICE));
    expect(paid.status).toBe(200);
    expect(paid.body.data).toMatchObject({ status: 'completed', cost: '0.05', refund: '0.00' });
    expect(settledBy(paid)).toMatchObject({
      success: true,
      payer: payer.config.payer,
      transaction: '',
      network: h.ctx.chain.caip2,
      amount: '',
      extra: {
        chargedAmount: '50000',
        channelState: {
          channelId: payer.channelId,
          balance: '1000000',
          totalClaimed: '0',
          withdrawRequestedAt: 0,
          refundNonce: '0',
          chargedCumulativeAmount: '50000',
        },
      },
      extensions: { 'offer-receipt': { info: { version: 1, receipt: expect.objectContaining({ format: 'eip712' }) } } },
    });
    const next = await buy(payer, 2n * PRICE);
    expect(settledBy(next).extra.channelState.chargedCumulativeAmount).toBe('100000');
    expect(await channelOf(payer)).toMatchObject({
      charged_micro: '100000',
      reserved_micro: '0',
      signed_micro: '100000',
    });
  });

  it('that fails is not charged: the voucher is good for the next call', async () => {
    const payer = await funded();
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const failed = await buy(payer, PRICE).finally(() => agent.behave(echo));
    expect(failed.body.data).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05' });
    expect(settledBy(failed)).toMatchObject({
      success: true,
      extra: { chargedAmount: '0', channelState: { chargedCumulativeAmount: '0' } },
    });
    expect(await channelOf(payer)).toMatchObject({ charged_micro: '0', reserved_micro: '0' });
    expect((await buy(payer, PRICE)).body.data.status).toBe('completed');
  });

  it('that is not awaited answers the channel with the call in flight', async () => {
    const payer = await funded();
    const body = { task: 'later', webhookUrl: `${agent.endpoint}/hook` };
    const unpaid = await h.request('POST', path(), { key: account.key, body });
    const created = await h.request('POST', path(), { key: account.key, body, headers: payer.pay(unpaid, PRICE) });
    expect(created.status).toBe(200);
    expect(settledBy(created).extra).toMatchObject({
      chargedAmount: '50000',
      channelState: { chargedCumulativeAmount: '50000' },
    });
  });

  it('is found again by its offer: two answers lost are one run and one charge', async () => {
    const payer = await funded();
    const unpaid = await ask('once');
    const headers = payer.pay(unpaid, PRICE);
    const runs = () => agent.calls.filter(({ body }) => body.task === 'once').length;
    const answers = await Promise.all([1, 2, 3].map(() => call(headers, 'once')));
    const again = await call(headers, 'once');
    expect([...answers, again].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set([...answers, again].map(({ body }) => body.data.requestId)).size).toBe(1);
    expect(runs()).toBe(1);
    expect(settledBy(again).extra.chargedAmount).toBe('50000');
    expect(await channelOf(payer)).toMatchObject({ charged_micro: '50000', reserved_micro: '0' });
    // For another task it is another request, which this offer does not pay.
    expect((await call(headers, 'another')).status).toBe(409);
  });

  it('is found again by its Idempotency-Key and by its payment identifier, with another offer', async () => {
    const payer = await funded();
    const keyed = async (max: bigint) => {
      const headers = { ...payer.pay(await ask('keyed'), max), 'idempotency-key': 'voucher-key-1' };
      return h.request('POST', path(), { key: account.key, body: { task: 'keyed' }, headers });
    };
    const first = await keyed(PRICE);
    const second = await keyed(2n * PRICE);
    expect(second.body.data.requestId).toBe(first.body.data.requestId);
    const named = async (max: bigint) =>
      call(payer.pay(await ask('named'), max, { identifier: 'a-purchase-of-mine' }), 'named');
    const third = await named(2n * PRICE);
    const fourth = await named(3n * PRICE);
    expect(third.body.data.status).toBe('completed');
    expect(fourth.body.data.requestId).toBe(third.body.data.requestId);
    expect(await channelOf(payer)).toMatchObject({ charged_micro: '100000', reserved_micro: '0' });
  });

  it('takes vouchers that were signed ahead, in any order, in one batch', async () => {
    const payer = await funded();
    const offers = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(`ahead ${index}`)));
    const answers = await Promise.all(
      offers.map((unpaid, index) => call(payer.pay(unpaid, BigInt(index + 1) * PRICE), `ahead ${index}`)),
    );
    const late = answers.filter(({ status }) => status === 402);
    for (const answer of late) expect(requiredBy(answer).error).toMatch(/cumulative_amount_mismatch$/);
    const row = await channelOf(payer);
    expect(BigInt(row?.charged_micro ?? 0)).toBe(BigInt(answers.length - late.length) * PRICE);
  });

  it('needs no voucher when it is free', async () => {
    const free = await startTestAgent(h, { perRequest: '0' });
    const answer = await h.request('POST', `/invoke/${free.id}`, {
      key: account.key,
      body: { task: 'x' },
      headers: { 'x-sync': 'true' },
    });
    expect(answer.body.data.status).toBe('completed');
    expect(answer.headers.get('payment-response')).toBeNull();
    await free.die();
  });
});

describe('a voucher for a wrong sum', () => {
  it('is told the sum and the last voucher, which its holder goes on from', async () => {
    const payer = await funded();
    await buy(payer, PRICE);
    const refused = await buy(payer, PRICE);
    expect(refused.status).toBe(402);
    const required = requiredBy(refused);
    expect(required.error).toBe('invalid_batch_settlement_evm_cumulative_amount_mismatch');
    expect(required.accepts[0].extra.channelState).toBeUndefined();
    expect(required.accepts[1].extra).toMatchObject({
      channelState: { channelId: payer.channelId, balance: '1000000', chargedCumulativeAmount: '50000' },
      voucherState: { signedMaxClaimable: '50000', signature: payer.sign(PRICE) },
    });
    expect(refused.headers.get('payment-response')).toBeNull();
    expect((await call(payer.pay(refused, 2n * PRICE))).status).toBe(200);
  });
});

type Case = [string, (payer: VoucherPayer) => { max?: bigint; changes?: VoucherChanges; prepare?: string }, string];
const other = `0x${'12'.repeat(20)}`;
const cases: Case[] = [
  ['of another network', () => ({ changes: { network: 'eip155:1' } }), 'network_mismatch'],
  ['of an unknown type', () => ({ changes: { payload: { type: 'claim' } } }), 'payload_type'],
  ['of the type refund', () => ({ changes: { payload: { type: 'refund' } } }), 'payload_type'],
  ['of an id that is none', () => ({ changes: { channelId: '0x12' } }), 'channel_id_invalid'],
  ['of a path for an id', () => ({ changes: { channelId: '../../etc' } }), 'channel_id_invalid'],
  ["of another channel's id", () => ({ changes: { channelId: `0x${'12'.repeat(32)}` } }), 'channel_id_mismatch'],
  ['for a receiver put in later', () => ({ changes: { config: { receiver: other } } }), 'channel_id_mismatch'],
  ['of high s', (p) => ({ changes: { signature: highS(p.sign(PRICE)) } }), 'voucher_signature'],
  ['with v of 0 or 1', (p) => ({ changes: { signature: lowV(p.sign(PRICE)) } }), 'voucher_signature'],
  ['with 64 bytes', (p) => ({ changes: { signature: p.sign(PRICE).slice(0, 130) } }), 'voucher_signature'],
  ['with no signature', () => ({ changes: { signature: '0x' } }), 'voucher_signature'],
  ['signed by a stranger', () => ({ changes: { key: `0x${'01'.repeat(32)}` } }), 'voucher_signature'],
  ['signed for another sum', (p) => ({ changes: { signature: p.sign(PRICE + 1n) } }), 'voucher_signature'],
  ['above what was deposited', () => ({ prepare: 'balance_micro = 49999' }), 'cumulative_exceeds_balance'],
  ['one unit short', () => ({ max: PRICE - 1n }), 'cumulative_amount_mismatch'],
  ['one unit over', () => ({ max: PRICE + 1n }), 'cumulative_amount_mismatch'],
  ['while its payer withdraws', () => ({ prepare: 'withdraw_requested_at = now()' }), 'missing_channel'],
  ['of a channel that is closed', () => ({ prepare: 'published_micro = 1, signed_micro = 1' }), 'missing_channel'],
  ['while a refund is under way', () => ({ prepare: `refund_id = 'crf_1'` }), 'channel_busy'],
];

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
function highS(signature: string): string {
  const s = N - BigInt(`0x${signature.slice(66, 130)}`);
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`;
}
const lowV = (signature: string) => `${signature.slice(0, 130)}${signature.endsWith('1b') ? '00' : '01'}`;

describe('a refused voucher', () => {
  it.each(cases)('%s gets the code of the scheme; nothing runs, is charged or told', async (_what, make, code) => {
    const payer = await funded();
    const { max = PRICE, changes = {}, prepare } = make(payer);
    if (prepare) await h.ctx.db.query('', `update channel set ${prepare} where id = $1`, [payer.channelId]);
    const before = { calls: agent.calls.length, refused: await refusals(code) };
    const unpaid = await ask();
    const refused = await call(payer.pay(unpaid, max, changes));
    expect(refused.status).toBe(402);
    const required = requiredBy(refused);
    expect(required.error).toBe(`invalid_batch_settlement_evm_${code}`);
    expect(refused.body.error.details).toEqual({ reason: `invalid_batch_settlement_evm_${code}` });
    const isTold = required.accepts[1].extra.channelState !== undefined;
    expect(isTold).toBe(code === 'cumulative_amount_mismatch');
    expect(agent.calls.length).toBe(before.calls);
    expect(await refusals(code)).toBe(before.refused + 1);
    expect(await channelOf(payer)).toMatchObject({ charged_micro: '0', reserved_micro: '0' });
  });

  it.each([
    ['for another receiver', { receiver: other }, 'receiver_mismatch'],
    ['for another authorizer', { receiverAuthorizer: other }, 'receiver_authorizer_mismatch'],
    ['of another token', { token: other }, 'token_mismatch'],
    ['of another delay', { withdrawDelayS: 900 }, 'withdraw_delay_mismatch'],
    ['of a delay out of range', { withdrawDelayS: 899 }, 'withdraw_delay_out_of_range'],
    ['without a signing key of its own', { payerAuthorizer: `0x${'00'.repeat(20)}` }, 'voucher_signature'],
  ])('%s gets the code of the scheme', async (_what, change, code) => {
    const payer = newVoucherPayer(h, change);
    await payer.fund(1_000_000n);
    const refused = await call(payer.pay(await ask(), PRICE));
    expect([refused.status, requiredBy(refused).error]).toEqual([402, `invalid_batch_settlement_evm_${code}`]);
  });

  it('of a channel that the node does not know gets the code of the scheme', async () => {
    const refused = await call(newVoucherPayer(h).pay(await ask(), PRICE));
    expect(requiredBy(refused).error).toBe('invalid_batch_settlement_evm_channel_not_found');
  });

  it('for the offer of another account, or of none, gets a new offer', async () => {
    const payer = await funded();
    const stranger = await h.newAccount();
    const foreign = payer.pay(await ask('hello', stranger.key), PRICE);
    for (const headers of [foreign, payer.pay(await ask(), PRICE, { extra: { memo: 'req_1' } })])
      expect(requiredBy(await call(headers)).error).toBe('invalid_offer');
  });

  it('that is malformed is a 400', async () => {
    const payer = await funded();
    for (const payload of [{ voucher: null }, { channelConfig: {} }, { voucher: { maxClaimableAmount: '1e3' } }]) {
      const answer = await call(payer.pay(await ask(), PRICE, { payload }));
      expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  it('of a treasury deposit is refused: channels pay for calls', async () => {
    const payer = await funded();
    const headers = payer.pay(await ask(), PRICE);
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const answer = await h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '1' }, headers });
    expect([answer.status, requiredBy(answer).error]).toEqual([402, 'unsupported_scheme']);
  });
});

async function refusals(code: string): Promise<number> {
  const { values } = await h.ctx.metrics.channelRefusals.get();
  return values.find(({ labels }) => labels.reason === `invalid_batch_settlement_evm_${code}`)?.value ?? 0;
}
