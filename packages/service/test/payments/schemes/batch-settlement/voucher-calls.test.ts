import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newVoucherPayer, requiredBy, settledBy, type VoucherPayer } from '../../../support/voucher-payer.ts';
import { payV2 } from '../../../support/x402-payer.ts';

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
      `select charged_micro, reserved_micro, signed_micro, signature, turn_request from channel where id = $1`,
      [payer.channelId],
    )
  )[0];

/** As if a claim had put vouchers up to this sum on the chain. */
const publish = (payer: VoucherPayer, maxMicro: bigint) =>
  h.ctx.db.query('', 'update channel set published_micro = $2 where id = $1', [payer.channelId, maxMicro]);

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

  it.each(['with a key', 'without a key'])(
    'is found again by its offer when that has expired, by its caller alone; an offer that bought nothing pays no more (%s)',
    async (who) => {
      const [payer, task] = [await funded(), `late ${who}`];
      const send = (headers: Record<string, string> = {}, key = account.key): Promise<Answer> =>
        who === 'with a key'
          ? h.request('POST', path(), { key, body: { task }, headers })
          : h.request('POST', `/x402/${agent.id}`, { body: { task }, headers });
      const headers = payer.pay(await send(), PRICE);
      const unused = payer.pay(await send(), 2n * PRICE);
      const first = await send(headers);
      const laterMs = h.ctx.clock.now().getTime() + 16 * 60_000;
      vi.spyOn(h.ctx.clock, 'now').mockImplementation(() => new Date(laterMs));
      try {
        const { requestId, result } = first.body.data;
        expect((await send(headers)).body.data).toMatchObject({ requestId, status: 'completed', result });
        const late = await send(unused);
        expect([late.status, requiredBy(late).error]).toEqual([402, 'invalid_offer']);
        const stranger = await h.newAccount();
        const shown = await h.request('POST', path(), { key: stranger.key, body: { task }, headers });
        expect([shown.status, requiredBy(shown).error]).toEqual([402, 'invalid_offer']);
      } finally {
        vi.restoreAllMocks();
      }
      expect(agent.calls.filter(({ body }) => body.task === task)).toHaveLength(1);
      expect(await channelOf(payer)).toMatchObject({ charged_micro: '50000', reserved_micro: '0' });
    },
  );

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

  it('is found again by its offer and by its payment identifier when it is paid once more by exact, which is not taken', async () => {
    const [payer, wallet] = [await funded(), await h.newWallet(1_000_000n)];
    const unpaid = await ask('either');
    const first = await call(payer.pay(unpaid, PRICE), 'either');
    const second = await call(await payV2(h, wallet, unpaid), 'either');
    expect(second.body.data).toMatchObject({ requestId: first.body.data.requestId, status: 'completed' });
    const identifier = 'a-purchase-by-either-scheme';
    const third = await call(payer.pay(await ask('either'), 2n * PRICE, { identifier }), 'either');
    const fourth = await call(await payV2(h, wallet, await ask('either'), { identifier }), 'either');
    expect(fourth.body.data).toMatchObject({ requestId: third.body.data.requestId, status: 'completed' });
    const other = await call(await payV2(h, wallet, await ask('other'), { identifier }), 'other');
    expect([other.status, other.body.error.message]).toEqual([409, expect.stringMatching(/for another request/)]);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
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
  it('gets the sum and the last voucher, from which the payer continues', async () => {
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

  it('gets the sum also if a claim published the voucher while the call waited for its turn', async () => {
    const payer = await funded();
    await buy(payer, PRICE);
    const { turns } = h.ctx.channels;
    expect(await turns.take(payer.channelId, 'req_before')).toBe(true);
    const take = vi.spyOn(turns, 'take');
    const waiting = buy(payer, PRICE);
    await expect.poll(() => take.mock.calls.length).toBeGreaterThan(0);
    await publish(payer, PRICE);
    await turns.end(payer.channelId, 'req_before');
    expect(requiredBy(await waiting).accepts[1].extra).toMatchObject({
      channelState: { chargedCumulativeAmount: '50000' },
      voucherState: { signedMaxClaimable: '50000' },
    });
    take.mockRestore();
    await publish(payer, 0n);
  });

  it('makes later calls wait until its correction is used: a right voucher does not overtake it', async () => {
    const payer = await funded();
    await buy(payer, PRICE);
    const told = await buy(payer, PRICE);
    const overtaking = buy(payer, 2n * PRICE);
    await expect.poll(async () => (await channelOf(payer))?.turn_request).not.toBeNull();
    expect((await call(payer.pay(told, 2n * PRICE))).status).toBe(200);
    const corrected = await overtaking;
    expect(requiredBy(corrected).accepts[1].extra.channelState.chargedCumulativeAmount).toBe('100000');
    expect((await call(payer.pay(corrected, 3n * PRICE))).status).toBe(200);
  });
});

describe('a deadline that passes while a paid call is accepted', () => {
  const DEADLINE_MS = 30_000;
  const callOf = () => {
    const body = { task: 'hello', deadline: new Date(Date.now() + DEADLINE_MS).toISOString() };
    return (headers = {}) => h.request('POST', path(), { key: account.key, body, headers });
  };
  const passDeadline = () => {
    const nowMs = h.ctx.clock.now().getTime();
    return vi.spyOn(h.ctx.clock, 'now').mockImplementation(() => new Date(nowMs + DEADLINE_MS + 1));
  };

  it('before it is stored: the call is refused, and charges nothing', async () => {
    const [payer, send] = [await funded(), callOf()];
    const payment = payer.pay(await send(), PRICE);
    const { accept } = h.ctx.acceptor;
    const accepting = vi.spyOn(h.ctx.acceptor, 'accept').mockImplementationOnce((item) => {
      passDeadline();
      return accept(item);
    });
    const late = await send(payment).finally(() => vi.restoreAllMocks());
    expect(accepting).toHaveBeenCalledOnce();
    expect([late.status, late.body.error.message]).toEqual([400, 'Invalid request: deadline has passed.']);
    expect(await channelOf(payer)).toMatchObject({ charged_micro: '0', reserved_micro: '0' });
  });

  it('behind it: the same request, which looked for it just before, is answered with its result', async () => {
    const [payer, send] = [await funded(), callOf()];
    const payment = payer.pay(await send(), PRICE);
    const { typeChecks } = h.ctx;
    const { requireInput } = typeChecks;
    const hasLooked = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    vi.spyOn(typeChecks, 'requireInput').mockImplementationOnce(async (...asked) => {
      hasLooked.resolve();
      await goesOn.promise;
      return requireInput(...asked);
    });
    const second = send(payment);
    await hasLooked.promise;
    const first = await send(payment);
    passDeadline();
    goesOn.resolve();
    const answer = await second.finally(() => vi.restoreAllMocks());
    expect([first.status, answer.status]).toEqual([200, 200]);
    expect(answer.body.data.requestId).toBe(first.body.data.requestId);
    expect(await channelOf(payer)).toMatchObject({ charged_micro: String(PRICE) });
  });
});
