import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions, walletByBooks } from '../support/books.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { balanceOf, sumOfHistory } from '../support/treasury.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
beforeAll(async () => {
  h = await borrowHarness();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
});
afterAll(() => h.stop());

const path = '/payments/treasury/deposit';

async function newTreasury() {
  const { key } = await h.newAccount();
  const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
  return { key, treasuryId };
}

describe('a deposit', () => {
  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])('paid by %s, 8 times at once, is one transfer, credited once, and eight equal answers', async (_version, pay) => {
    const { key, treasuryId } = await newTreasury();
    const wallet = await h.newWallet(10_000_000n);
    const body = { amount: '2.50' };
    const unpaid = await h.request('POST', path, { key, body });
    expect(unpaid).toMatchObject({
      status: 402,
      body: { error: { payment: { amount: '2.50', recipient: h.ctx.wallet.address } } },
    });
    const headers = await pay(h, wallet, unpaid);
    const answers = await Promise.all(Array.from({ length: 8 }, () => h.request('POST', path, { key, body, headers })));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers[0]?.body.data).toMatchObject({ treasuryId, amount: '2.50', balance: '2.50' });
    expect(new Set(answers.map((each) => JSON.stringify(each.body.data))).size).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(7_500_000n);
    expect(await balanceOf(h, key)).toEqual({ available: '2.50', held: '0.00' });
    expect(await sumOfHistory(h, key)).toBe(2_500_000n);

    const later = await h.request('POST', path, { key, body, headers });
    expect(later.body.data.paymentId).toBe(answers[0]?.body.data.paymentId);
    expect(await balanceOf(h, key)).toEqual({ available: '2.50', held: '0.00' });
  });

  it('is refused with another amount than was paid, and for another treasury, and nothing is credited', async () => {
    const { key } = await newTreasury();
    const stranger = await newTreasury();
    const wallet = await h.newWallet(10_000_000n);
    const headers = await payV2(h, wallet, await h.request('POST', path, { key, body: { amount: '1' } }));
    expect((await h.request('POST', path, { key, body: { amount: '2' }, headers })).status).toBe(402);
    expect((await h.request('POST', path, { key: stranger.key, body: { amount: '1' }, headers })).status).toBe(402);
    expect(await h.usdcOf(wallet.address)).toBe(10_000_000n);
    expect((await h.request('POST', path, { key, body: { amount: '1' }, headers })).status).toBe(200);
    expect((await h.request('POST', path, { key, body: { amount: '2' }, headers })).status).toBe(409);
    expect((await h.request('POST', path, { key: stranger.key, body: { amount: '1' }, headers })).status).toBe(409);
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    expect(await balanceOf(h, stranger.key)).toEqual({ available: '0.00', held: '0.00' });
  });

  it('of many wallets at once is credited to the micro', async () => {
    const { key } = await newTreasury();
    const amounts = Array.from({ length: 25 }, (_, index) => `0.0${String(10_001 + index * 7)}`);
    const answers = await Promise.all(
      amounts.map(async (amount, index) => {
        const wallet = await h.newWallet(1_000_000n);
        const pay = index % 2 === 0 ? payV1 : payV2;
        const headers = await pay(h, wallet, await h.request('POST', path, { key, body: { amount } }));
        return h.request('POST', path, { key, body: { amount }, headers });
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(25).fill(200));
    const sum = amounts.reduce((total, amount) => total + BigInt(amount.slice(2)), 0n);
    expect(await sumOfHistory(h, key)).toBe(sum);
    expect((await balanceOf(h, key)).available).toBe(`0.${sum}`);
  });
});
