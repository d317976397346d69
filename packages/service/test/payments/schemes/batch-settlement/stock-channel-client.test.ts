import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { type Harness, startHarness, type TestAccount, type TestWallet } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newVoucherPayer, requiredBy } from '../../../support/voucher-payer.ts';

const PRICE = 10_000n;
const MIN_DEPOSIT = 200_000n;
let h: Harness;
let agent: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: '0.2' } });
  agent = await startTestAgent(h, { perRequest: '0.01' });
  account = await h.newAccount();
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** The stock client with both schemes, as its makers document it. */
function stockFetch(wallet: TestWallet, agentId = agent.id) {
  const { caip2 } = h.ctx.chain;
  const reader = createPublicClient({ transport: http(h.rpcUrl) });
  const signer = {
    address: wallet.address,
    signTypedData: wallet.signTypedData,
    readContract: reader.readContract.bind(reader),
  };
  // biome-ignore lint/suspicious/noExplicitAny: the signer of the stock packages is narrower than viem's
  const channel = new BatchSettlementEvmScheme(signer as any);
  const client = new x402Client()
    .register(caip2 as 'eip155:1', new ExactEvmScheme(wallet))
    .register(caip2 as 'eip155:1', channel);
  const pay = wrapFetchWithPayment(fetch, client);
  const call = (task: string) =>
    pay(`${h.baseUrl}/invoke/${agentId}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ task }),
    });
  return { call, channel };
}

const channelsOf = (wallet: TestWallet) =>
  askDatabase<Record<string, string>>(
    h.databaseUrl,
    'select balance_micro, charged_micro, reserved_micro from channel where payer = $1',
    [wallet.address.toLowerCase()],
  );

describe('the stock client with both schemes', () => {
  it('pays calls by one deposit, and by a voucher each', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { call } = stockFetch(wallet);
    for (let index = 0; index < 10; index += 1) {
      const answer = await call(`call ${index}`);
      expect([answer.status, ((await answer.json()) as { data: { cost: string } }).data.cost]).toEqual([200, '0.01']);
    }
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - MIN_DEPOSIT);
    expect(await channelsOf(wallet)).toEqual([
      { balance_micro: String(MIN_DEPOSIT), charged_micro: String(10n * PRICE), reserved_micro: '0' },
    ]);
  });

  it('makes 16 parallel calls on one channel: all are answered, and each is charged once', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { call } = stockFetch(wallet);
    await call('first');
    const calls = Array.from({ length: 16 }, (_, index) => call(`parallel ${index}`));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(16).fill(200));
    expect(await channelsOf(wallet)).toEqual([
      { balance_micro: String(MIN_DEPOSIT), charged_micro: String(17n * PRICE), reserved_micro: '0' },
    ]);
  });

  it('that begins with parallel calls deposits once', async () => {
    const wallet = await h.newWallet(5_000_000n);
    const { call } = stockFetch(wallet);
    const calls = Array.from({ length: 4 }, (_, index) => call(`at once ${index}`));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await h.usdcOf(wallet.address)).toBe(5_000_000n - MIN_DEPOSIT);
  });

  it('tops its channel up by itself', async () => {
    const wallet = await h.newWallet(5_000_000n);
    const { call } = stockFetch(wallet);
    for (let index = 0; index < 22; index += 1) expect((await call(`many ${index}`)).status).toBe(200);
    expect(await channelsOf(wallet)).toMatchObject([
      { balance_micro: String(2n * MIN_DEPOSIT), charged_micro: String(22n * PRICE) },
    ]);
  });

  it('that lost its state goes on where it was', async () => {
    const wallet = await h.newWallet(1_000_000n);
    await stockFetch(wallet).call('before');
    const answer = await stockFetch(wallet).call('after');
    expect(answer.status).toBe(200);
    expect(await channelsOf(wallet)).toMatchObject([{ charged_micro: String(2n * PRICE) }]);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });

  it('gets the rest of its deposit back, to the unit, and a part before', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { call, channel } = stockFetch(wallet);
    await call('before the refund');
    const url = `${h.baseUrl}/invoke/${agent.id}`;
    expect(await channel.refund(url, { amount: '50000' })).toMatchObject({ success: true, amount: '50000' });
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - MIN_DEPOSIT + 50_000n);
    expect((await call('between')).status).toBe(200);
    const refunded = await channel.refund(url);
    expect(refunded).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - 2n * PRICE);
    await expect(channel.refund(url)).rejects.toThrow(/refund|balance/i);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });
});

it('the rest of a deposit is refunded at the address of an agent that was removed meanwhile', async () => {
  const owner = await h.newAccount();
  const leaving = await startTestAgent(h, { perRequest: '0.01', owner });
  const wallet = await h.newWallet(1_000_000n);
  const { call, channel } = stockFetch(wallet, leaving.id);
  expect((await call('before it goes')).status).toBe(200);
  expect((await h.request('DELETE', `/agents/${leaving.id}`, { key: owner.key })).status).toBe(200);
  await leaving.die();
  expect(await channel.refund(`${h.baseUrl}/invoke/${leaving.id}`)).toMatchObject({ success: true });
  expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - PRICE);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});

describe('an address that is asked for a refund', () => {
  const url = () => `/invoke/${agent.id}`;

  it('answers 402 with an offer that pays for no call, without a key; with a key it reads a request', async () => {
    const offered = await h.request('GET', url());
    expect(offered.status).toBe(402);
    const required = JSON.parse(Buffer.from(offered.headers.get('payment-required') ?? '', 'base64').toString());
    expect(required.accepts.map(({ scheme }: { scheme: string }) => scheme)).toEqual(['batch-settlement']);
    for (const path of [url(), `/x402/${agent.id}`])
      expect((await h.request('GET', path, { headers: { authorization: 'Bearer x402' } })).status, path).toBe(402);
    expect((await h.request('GET', url(), { key: account.key })).status).toBe(404);
    expect((await h.request('GET', '/invoke/agt_unknown')).status).toBe(404);
    expect((await h.request('GET', '/invoke/req_unknown')).status).toBe(401);
    const payer = newVoucherPayer(h);
    await payer.fund(1_000_000n);
    const headers = payer.pay(offered, BigInt(required.accepts[0].amount));
    const paid = await h.request('POST', url(), { key: account.key, body: { task: 'x' }, headers });
    expect([paid.status, requiredBy(paid).error]).toEqual([402, 'invalid_offer']);
  });
});
