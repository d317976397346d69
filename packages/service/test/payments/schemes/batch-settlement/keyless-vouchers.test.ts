import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../../../src/compose/app.ts';
import { createMutex } from '../../../../src/lib/concurrency/mutex.ts';
import type { Channels } from '../../../../src/payments/schemes/batch-settlement/channels.ts';
import { contradictions } from '../../../support/books.ts';
import { type Harness, newWallet, startHarness } from '../../../support/harness.ts';
import { chargedOf } from '../../../support/stock-channel-payer.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newVoucherPayer, requiredBy, settledBy, type VoucherPayer } from '../../../support/voucher-payer.ts';
import { payV2 } from '../../../support/x402-payer.ts';

type Headers = Record<string, string>;

const PRICE = 50_000n;
let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: '0.05' } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const call = (task: string, headers: Headers = {}) =>
  h.request('POST', `/x402/${agent.id}`, { body: { task }, headers });
const funded = async (): Promise<VoucherPayer> => {
  const payer = newVoucherPayer(h);
  await payer.fund(1_000_000n);
  return payer;
};
const complete = (content: string, headers: Headers = {}) =>
  h.request('POST', '/v1/chat/completions', {
    body: { model: agent.id, messages: [{ role: 'user', content }] },
    headers,
  });
const counted: Headers = { 'x-stainless-retry-count': '1' };
const accountsOf = (address: string) =>
  h.ctx.db.query<{ id: string }>('accounts-of-payer', 'select id from account where address = $1', [address]);

describe('a call without a key that a voucher pays for', () => {
  it('is that of the channel’s payer, and the identical call gives its result', async () => {
    const payer = await funded();
    const headers = payer.pay(await call('mine'), PRICE);
    const paid = await call('mine', headers);
    expect(paid.body.data).toMatchObject({ status: 'completed', result: { echo: 'mine' } });
    expect(settledBy(paid).extra.channelState.chargedCumulativeAmount).toBe(String(PRICE));
    const [account] = await accountsOf(payer.config.payer);
    const [row] = await h.ctx.db.query('account-of-request', 'select account_id as id from invocation where id = $1', [
      paid.body.data.requestId,
    ]);
    expect(row).toEqual(account);
    const { requestId, resultToken } = paid.body.data;
    expect((await call('mine', headers)).body.data).toMatchObject({ requestId, resultToken, result: { echo: 'mine' } });
    const read = await h.request('GET', `/invoke/${requestId}`, { headers: { 'x-result-token': resultToken } });
    expect(read.body.data.result).toMatchObject({ echo: 'mine' });
  });

  it('that another process has accepted while this one checked it is found, even if its voucher is in a claim by now', async () => {
    const payer = await funded();
    const headers = payer.pay(await call('hedged'), PRICE);
    const elsewhere: string[] = [];
    const channels: Channels = {
      ...h.ctx.channels,
      async owedBy(wallet) {
        elsewhere.push((await call('hedged', headers)).body.data.requestId);
        const publish = 'update channel set published_micro = $2 where id = $1';
        await h.ctx.db.query('publish-meanwhile', publish, [payer.channelId, PRICE]);
        return h.ctx.channels.owedBy(wallet);
      },
    };
    const here = createApp({ ...h.ctx, channels, paymentTurns: createMutex() });
    const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const again = await here.request(`/x402/${agent.id}`, { ...options, body: JSON.stringify({ task: 'hedged' }) });
    const { data } = (await again.json()) as { data?: { requestId: string } };
    expect([again.status, [data?.requestId]]).toEqual([200, elsewhere]);
  });

  it('under an Idempotency-Key is charged once, and shows its result to the payer alone', async () => {
    const payer = await funded();
    const key = { 'idempotency-key': 'order-1' };
    const first = await call('once', { ...key, ...payer.pay(await call('once'), PRICE) });
    const again = await call('once', { ...key, ...payer.pay(await call('once'), 2n * PRICE) });
    const { requestId } = first.body.data;
    expect(again.body.data).toMatchObject({ requestId, result: { echo: 'once' } });
    const thief = newVoucherPayer(h);
    const forged = payer.pay(await call('once'), 3n * PRICE, { key: thief.key });
    const shown = await call('once', { ...key, ...forged });
    expect(shown.body.data).toMatchObject({ requestId });
    expect(Object.keys(shown.body.data)).not.toContain('result');
    expect(shown.headers.get('payment-response')).toBeNull();
    // What stands in a claim is anybody's.
    await h.ctx.db.query('publish', 'update channel set published_micro = $2 where id = $1', [
      payer.channelId,
      2n * PRICE,
    ]);
    const published = await call('once', { ...key, ...payer.pay(await call('once'), 2n * PRICE) });
    expect(Object.keys(published.body.data)).not.toContain('result');
  });

  it('under an Idempotency-Key is found when it is paid once more by exact, and shows its result to the payer alone', async () => {
    const payer = await funded();
    const wallet = await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, payer.key);
    const key = { 'idempotency-key': 'order-2' };
    const unpaid = await call('either');
    const first = await call('either', { ...key, ...payer.pay(unpaid, PRICE) });
    const { requestId } = first.body.data;
    const byOffer = await call('either', { ...key, ...(await payV2(h, wallet, unpaid)) });
    expect(byOffer.body.data).toMatchObject({ requestId, result: { echo: 'either' } });
    const byKey = await call('either', { ...key, ...(await payV2(h, wallet, await call('either'))) });
    expect(byKey.body.data).toMatchObject({ requestId, result: { echo: 'either' } });
    const stranger = await h.newWallet(1_000_000n);
    const signature = `0x${'1'.repeat(130)}`;
    const forged = await payV2(h, { ...stranger, address: wallet.address }, await call('either'), { signature });
    expect(await call('either', { ...key, ...forged })).toMatchObject({ status: 402 });
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  });

  it('through /v1 is found by a repetition that its wallet alone can show, by either scheme: one run, one charge', async () => {
    const payer = await funded();
    const wallet = await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, payer.key);
    const ask = (headers: Headers = {}) => complete('repeated', { ...counted, ...headers });
    const first = await ask(payer.pay(await ask(), PRICE));
    expect(first.status).toBe(200);
    const runs = agent.calls.length + 1;
    // Without the answer, its client counts as before.
    for (const maxMicro of [PRICE, 2n * PRICE]) {
      const found = await ask(payer.pay(await ask(), maxMicro));
      expect([found.status, found.body.id]).toEqual([200, first.body.id]);
      expect(settledBy(found).extra.channelState.chargedCumulativeAmount).toBe(String(PRICE));
    }
    expect((await ask(await payV2(h, wallet, await ask()))).body.id).toBe(first.body.id);
    // Another call since: a voucher that was shown before it is told the sum, and reads nothing.
    expect((await complete('another', payer.pay(await complete('another'), 2n * PRICE))).status).toBe(200);
    const stale = await ask(payer.pay(await ask(), PRICE));
    expect([stale.status, JSON.stringify(stale.body).includes(first.body.id)]).toEqual([402, false]);
    const told = requiredBy(stale).accepts.find(({ scheme }: { scheme: string }) => scheme === 'batch-settlement');
    expect(told.extra.channelState.chargedCumulativeAmount).toBe(String(2n * PRICE));
    expect((await ask(payer.pay(stale, 2n * PRICE))).body.id).toBe(first.body.id);
    const thief = await funded();
    const forged = payer.pay(await ask(), 3n * PRICE, { key: thief.key });
    const inItsName = thief.pay(await ask(), PRICE, { config: { payer: payer.config.payer } });
    await h.ctx.db.query('publish', 'update channel set published_micro = $2 where id = $1', [
      payer.channelId,
      2n * PRICE,
    ]);
    const published = payer.pay(await ask(), 2n * PRICE);
    using searches = vi.spyOn(h.ctx.channels, 'findLast');
    for (const headers of [forged, inItsName, published]) {
      const refused = await ask(headers);
      expect([refused.status, refused.headers.get('x-result-token')]).toEqual([402, null]);
      expect(JSON.stringify(refused.body)).not.toContain(first.body.id);
    }
    expect([agent.calls.length, searches.mock.calls.length]).toEqual([runs, 0]);
    const [charged] = await h.ctx.db.query('charged', 'select charged_micro as "of" from channel where id = $1', [
      payer.channelId,
    ]);
    expect([charged, await h.usdcOf(wallet.address)]).toEqual([{ of: 2n * PRICE }, 1_000_000n]);
    await h.ctx.db.query('publish', 'update channel set published_micro = $2 where id = $1', [payer.channelId, 0n]);
  });

  it('through /v1 whose deposit was not confirmed in time is no older purchase: the repetition runs, and is charged', async () => {
    const payer = newVoucherPayer(h);
    const wallet = await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, payer.key);
    const buy = async (maxMicro: bigint, headers: Headers = {}) => {
      const paid = payer.pay(await complete('again'), maxMicro, { payload: await payer.deposit(PRICE) });
      return complete('again', { ...headers, ...paid });
    };
    const runs = agent.calls.length;
    const older = await buy(PRICE);
    expect(older.status).toBe(200);
    const { settle } = h.ctx.settler;
    using _slow = vi.spyOn(h.ctx.settler, 'settle').mockImplementationOnce(async (payment) => {
      await settle(payment);
      return { state: 'unknown', transactionHash: null };
    });
    expect((await buy(2n * PRICE)).body.error.code).toBe('payment_pending');
    const bought = await buy(2n * PRICE, counted);
    expect([bought.status, bought.body.id === older.body.id, agent.calls.length - runs]).toEqual([200, false, 2]);
    // Once it is accepted, it is the purchase that a further repetition finds.
    expect((await buy(2n * PRICE, counted)).body.id).toBe(bought.body.id);
    expect(await chargedOf(h, wallet)).toEqual([{ chargedMicro: 2n * PRICE, reservedMicro: 0n }]);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - 2n * PRICE);
  });

  it('through /v1 whose deposit was not confirmed in time and that another process accepted since, is found', async () => {
    const payer = newVoucherPayer(h);
    const wallet = await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, payer.key);
    const other = createApp(h.ctx);
    const pay = async () => payer.pay(await complete('handed over'), PRICE, { payload: await payer.deposit(PRICE) });
    const runs = agent.calls.length;
    const { settle } = h.ctx.settler;
    using _slow = vi.spyOn(h.ctx.settler, 'settle').mockImplementationOnce(async (payment) => {
      await settle(payment);
      return { state: 'unknown', transactionHash: null };
    });
    expect((await complete('handed over', await pay())).status).toBe(503);
    const elsewhere = await other.request('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...counted, ...(await pay()) },
      body: JSON.stringify({ model: agent.id, messages: [{ role: 'user', content: 'handed over' }] }),
    });
    const { id } = JSON.parse(await elsewhere.text());
    expect((await complete('handed over', { ...counted, ...(await pay()) })).body.id).toBe(id);
    expect(agent.calls.length - runs).toBe(1);
    expect(await chargedOf(h, wallet)).toEqual([{ chargedMicro: PRICE, reservedMicro: 0n }]);
  });

  it('of an empty channel is refused, and opens no account for the payer that it names', async () => {
    const victim = await h.newWallet(1_000_000n);
    const thief = newVoucherPayer(h, { payer: victim.address.toLowerCase() as `0x${string}` });
    const refused = await call('x', thief.pay(await call('x'), PRICE));
    expect(refused.status).toBe(402);
    expect(await accountsOf(victim.address.toLowerCase())).toEqual([]);
  });
});
