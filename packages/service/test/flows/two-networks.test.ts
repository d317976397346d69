import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openLedgerAccounts } from '../../src/payments/ledger/ledger-store.ts';
import { agentTreasuryId } from '../../src/payments/ledger/treasury.ts';
import { readReserves } from '../../src/payments/statements/read-reserves.ts';
import { contradictions } from '../support/books.ts';
import { transferUsdc } from '../support/chain-actions.ts';
import { type Harness, newWallet } from '../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { headerIn, offeredBy, payOn, postedOf, startTwoNetworks, type TwoNetworks } from '../support/two-networks.ts';
import { until } from '../support/until.ts';

let t: TwoNetworks;
let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  t = await startTwoNetworks();
  h = t.h;
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await t.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  for (const ctx of [h.ctx, t.onOther()])
    expect(await readReserves(ctx)).toMatchObject({ driftMicro: 0n, lossMicro: 0n });
});

const onOther = () => t.onOther();
const walletOnOther: TwoNetworks['walletOnOther'] = (...args) => t.walletOnOther(...args);

describe('a node on two networks', () => {
  it('offers both, and each payment is settled and earned where it was made', async () => {
    const { key } = await h.newAccount();
    const path = `/invoke/${agent.id}`;
    const unpaid = await h.request('POST', path, { key, body: { task: 'hello' } });
    expect([...new Set(offeredBy(unpaid))]).toEqual(['eip155:84532', 'eip155:421614']);
    const earned = agentTreasuryId(agent.id);
    const asset = onOther().chain.ledgerAsset;
    const first = (await postedOf(h, earned)) ?? 0n;
    const wallet = await walletOnOther();
    const headers = await payOn(onOther(), wallet, unpaid);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => h.request('POST', path, { key, body: { task: 'hello' }, headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers[0]?.body.data).toMatchObject({ status: 'completed', result: { echo: 'hello' }, cost: '0.05' });
    for (const each of answers)
      expect(headerIn(each, 'payment-response')).toMatchObject({ success: true, network: 'eip155:421614' });
    expect(await onOther().usdc.balanceOf(wallet.address)).toBe(950_000n);
    expect(await postedOf(h, earned)).toBe(first);
    expect(await postedOf(h, `${earned}@${asset}`)).toBeGreaterThan(0n);

    const here = await h.newWallet(1_000_000n);
    const again = await h.request('POST', path, { key, body: { task: 'here' } });
    const paidHere = { key, body: { task: 'here' }, headers: await payOn(h.ctx, here, again) };
    expect((await h.request('POST', path, paidHere)).status).toBe(200);
    expect(await h.usdcOf(here.address)).toBe(950_000n);
    expect(await postedOf(h, earned)).toBeGreaterThan(first);
  });

  it('refunds a failed call on the network on which it was paid', async () => {
    const { key } = await h.newAccount();
    const wallet = await walletOnOther();
    const failing = await startTestAgent(h, { perRequest: '0.05' });
    failing.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const path = `/invoke/${failing.id}`;
    const headers = await payOn(onOther(), wallet, await h.request('POST', path, { key, body: { task: 'x' } }));
    const paid = await h.request('POST', path, { key, body: { task: 'x' }, headers });
    expect(paid.body.data).toMatchObject({ status: 'failed', refund: '0.05' });
    await until(async () => (await onOther().usdc.balanceOf(wallet.address)) === 1_000_000n);
    await failing.die();
  });

  it('credits deposits, by x402 and by a plain transfer, in the asset that came', async () => {
    const { key } = await h.newAccount();
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    const wallet = await walletOnOther(10_000_000n);
    const path = '/payments/treasury/deposit';
    const body = { amount: '2.50' };
    const headers = await payOn(onOther(), wallet, await h.request('POST', path, { key, body }));
    const answer = await h.request('POST', path, { key, body, headers });
    expect(answer.status).toBe(200);
    expect(headerIn(answer, 'payment-response')).toMatchObject({ network: 'eip155:421614', payer: expect.anything() });
    const [plain] = await h.ctx.db.query<{ id: string }>(
      'treasury-rows',
      `select id from ledger_account where kind = 'treasury' and asset is not null and posted_micro = 2500000`,
    );
    expect(plain?.id).toMatch(new RegExp(`@${onOther().chain.ledgerAsset}$`));
    expect(treasuryId).toBeTruthy();

    await transferUsdc(
      t.other.rpcUrl,
      { ctx: onOther() },
      { from: wallet.address, to: h.ctx.chain.wallet, micro: 700_000n },
    );
    const withdrawal = { amount: '1.25', treasuryId: plain?.id, to: wallet.address };
    const withdrawn = await h.request('POST', '/payments/withdraw', { key, body: withdrawal });
    expect(withdrawn.body).toMatchObject({ status: 'success', data: { amount: '1.25', treasuryId: plain?.id } });
    await until(async () => (await onOther().usdc.balanceOf(wallet.address)) === 8_050_000n);
    const shown = await h.request('GET', `/payments/treasury/${encodeURIComponent(plain?.id ?? '')}`, { key });
    expect(shown.body.data).toMatchObject({ balance: '1.25', network: onOther().chain.name });
    const suspense = `suspense:${wallet.address.toLowerCase()}@${onOther().chain.ledgerAsset}`;
    await until(async () => (await postedOf(h, suspense)) === 700_000n);
  });

  it('credits a deposit in the asset that came, whichever treasury of the holder it names', async () => {
    const { key } = await h.newAccount();
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    const path = '/payments/treasury/deposit';
    const depositOn = async (ctx: Harness['ctx'], named: string) => {
      const wallet = ctx === h.ctx ? await h.newWallet(2_000_000n) : await walletOnOther(2_000_000n);
      const body = { amount: '1.50', treasuryId: named };
      const headers = await payOn(ctx, wallet, await h.request('POST', path, { key, body }));
      return h.request('POST', path, { key, body, headers });
    };
    const beside = `${treasuryId}@${onOther().chain.ledgerAsset}`;
    const first = await depositOn(onOther(), treasuryId);
    expect([first.status, first.body.data.treasuryId]).toEqual([200, beside]);
    const second = await depositOn(onOther(), beside);
    expect([second.status, second.body.data.treasuryId, second.body.data.balance]).toEqual([200, beside, '3.00']);
    const third = await depositOn(h.ctx, beside);
    expect([third.status, third.body.data.treasuryId, third.body.data.balance]).toEqual([200, treasuryId, '1.50']);
    const statement = `/payments/treasury/${encodeURIComponent(beside)}/statement`;
    expect((await h.request('GET', statement, { key })).body.data).toMatchObject({
      ...{ closingBalance: '3.00', network: onOther().chain.name },
    });
  });

  it('reads a treasury on a chain with an id of 15 digits, which has left the settings', async () => {
    const owner = await h.newAccount();
    const old = await startTestAgent(h, { perRequest: '0.05', owner });
    const treasuryId = `${agentTreasuryId(old.id)}@eip155:999999999999999/erc20:0x${'ab'.repeat(20)}`;
    await openLedgerAccounts(
      h.ctx.db,
      [{ id: treasuryId, kind: 'agent', accountId: owner.accountId, agentId: old.id }],
      h.ctx.clock.now(),
    );
    const path = `/payments/treasury/${encodeURIComponent(treasuryId)}`;
    const read = await h.request('GET', path, { key: owner.key });
    expect([read.status, read.body.data?.treasuryId]).toEqual([200, treasuryId]);
    expect((await h.request('GET', `${path}/statement`, { key: owner.key })).status).toBe(200);
    const balance = await h.request('GET', '/payments/balance', { key: owner.key });
    expect(balance.status, JSON.stringify(balance.body)).toBe(200);
    const body = { treasuryId, amount: '1.00' };
    expect((await h.request('POST', '/payments/withdraw', { key: owner.key, body })).status).toBe(503);
    await old.die();
  });

  it('takes a payment on the network that it was signed for, and on no other', async () => {
    const { key } = await h.newAccount();
    const path = `/invoke/${agent.id}`;
    const secret = generatePrivateKey();
    const [here, there] = [
      await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, secret),
      await walletOnOther(1_000_000n, secret),
    ];
    const held = () => Promise.all([h.usdcOf(here.address), onOther().usdc.balanceOf(there.address)]);
    const unpaid = await h.request('POST', path, { key, body: { task: 'replay' } });
    const read = (headers: { 'payment-signature': string }) =>
      JSON.parse(Buffer.from(headers['payment-signature'], 'base64').toString());
    const show = (payment: unknown) => {
      const header = Buffer.from(JSON.stringify(payment)).toString('base64');
      return h.request('POST', path, { key, body: { task: 'replay' }, headers: { 'payment-signature': header } });
    };
    // The same nonce, the same wallet, one signature for each network.
    const nonce = `0x${'7c'.repeat(32)}` as const;
    const onA = read(await payOn(h.ctx, here, unpaid, { nonce }));
    const onB = read(await payOn(onOther(), there, unpaid, { nonce }));
    for (const [signed, terms] of [
      [onA, onB],
      [onB, onA],
    ]) {
      const stolen = await show({ ...signed, accepted: terms.accepted });
      expect(stolen.status, JSON.stringify(stolen.body)).toBe(402);
      const renamed = await show({ ...signed, accepted: { ...signed.accepted, network: terms.accepted.network } });
      expect(renamed.status, JSON.stringify(renamed.body)).toBe(402);
    }
    expect(await held()).toEqual([1_000_000n, 1_000_000n]);
    // One offer buys one call: paid on both at once, one of them is taken.
    const answers = await Promise.all([show(onA), show(onB), show(onA), show(onB)]);
    const paid = answers.filter(({ status }) => status === 200);
    expect(new Set(paid.map(({ body }) => body.data.requestId)).size).toBe(1);
    const [a = 0n, b = 0n] = await held();
    expect(a + b).toBe(1_950_000n);
    // The other authorization is of the same nonce, and still good for a purchase of its own on its chain.
    const again = await h.request('POST', path, { key, body: { task: 'again' } });
    const [ctx, wallet] = a === 1_000_000n ? [h.ctx, here] : [onOther(), there];
    const body = { task: 'again' };
    const bought = await h.request('POST', path, { key, body, headers: await payOn(ctx, wallet, again, { nonce }) });
    expect(bought.status, JSON.stringify(bought.body)).toBe(200);
    expect(await held()).toEqual([950_000n, 950_000n]);
  });

  it('a chain that does not answer stops its own payments, and no others', async () => {
    const { key } = await h.newAccount();
    const path = `/invoke/${agent.id}`;
    const away = await walletOnOther();
    const headers = await payOn(onOther(), away, await h.request('POST', path, { key, body: { task: 'away' } }));
    t.cut(() => null);
    try {
      await until(async () => {
        const unpaid = await h.request('POST', path, { key, body: { task: 'z' } });
        return offeredBy(unpaid).every((network) => network === 'eip155:84532');
      });
      const here = await h.newWallet(1_000_000n);
      const unpaid = await h.request('POST', path, { key, body: { task: 'here' } });
      const paid = { key, body: { task: 'here' }, headers: await payOn(h.ctx, here, unpaid) };
      expect((await h.request('POST', path, paid)).status).toBe(200);
      const refused = await h.request('POST', path, { key, body: { task: 'away' }, headers });
      expect(refused.status).toBe(503);
    } finally {
      t.cut(null);
    }
    await until(async () => (await h.request('POST', path, { key, body: { task: 'away' }, headers })).status === 200);
    expect(await onOther().usdc.balanceOf(away.address)).toBe(950_000n);
  });
});
