import { randomBytes } from 'node:crypto';
import { toClientEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import { type Answer, type Harness, startHarness, type TestWallet } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newVoucherPayer, requiredBy } from '../../../support/voucher-payer.ts';
import { payV2 } from '../../../support/x402-payer.ts';

const PRICE = 50_000n;
let h: Harness;
let agent: TestAgent;
let key: string;
beforeAll(async () => {
  // Nothing is said of channels: a node as it comes.
  h = await startHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
  key = (await h.newAccount()).key;
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

type Ask = (headers?: Record<string, string>, query?: string) => Promise<Answer>;
const ways: [string, Ask][] = [
  [
    'a key',
    (headers = {}, query = '') =>
      h.request('POST', `/invoke/${agent.id}${query}`, { key, body: { task: 'x' }, headers }),
  ],
  [
    'no key',
    (headers = {}, query = '') => h.request('POST', `/x402/${agent.id}${query}`, { body: { task: 'x' }, headers }),
  ],
];
const schemesIn = (answer: Answer) => requiredBy(answer).accepts.map(({ scheme }: { scheme: string }) => scheme);

describe.each(ways)('with %s', (_way, ask) => {
  /** As `wrapFetchWithPayment` of thirdweb 5.121 reads a 402 and pays it: all entries are checked, and the first on the chain is signed. */
  async function payAsThirdweb(wallet: TestWallet) {
    const unpaid = await ask();
    const required = requiredBy(unpaid);
    for (const { scheme, amount } of required.accepts) {
      expect(['exact', 'upto']).toContain(scheme);
      expect(amount).toMatch(/^\d{1,78}$/);
    }
    const [accepted] = required.accepts;
    expect(accepted.extra.primaryType).toBe('TransferWithAuthorization');
    const validAfter = BigInt(Math.floor(Date.now() / 1000) - 86_400);
    const signed = await payV2(h, wallet, unpaid, { validAfter, nonce: `0x${randomBytes(32).toString('hex')}` });
    const { payload } = JSON.parse(Buffer.from(signed['payment-signature'] ?? '', 'base64').toString());
    const { scheme, network } = accepted;
    const payment = { x402Version: 2, scheme, network, accepted, resource: required.resource, payload };
    return ask({
      'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(payment)).toString('base64'),
      'Access-Control-Expose-Headers': 'PAYMENT-RESPONSE',
    });
  }

  it('a client that takes every entry of a 402 that does not ask for channels pays it', async () => {
    const wallet = await h.newWallet(1_000_000n);
    expect(await payAsThirdweb(wallet)).toMatchObject({ status: 200 });
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - PRICE);
  });

  it('channels are offered to who asks, by header, by address or by a voucher', async () => {
    expect(schemesIn(await ask())).toEqual(['exact']);
    expect(schemesIn(await ask({ 'x-payment-scheme': 'upto' }))).toEqual(['exact']);
    const asked = await ask({ 'x-payment-scheme': 'upto, batch-settlement' });
    expect(schemesIn(asked)).toEqual(['exact', 'batch-settlement']);
    expect(schemesIn(await ask({}, '?paymentScheme=batch-settlement'))).toEqual(['exact', 'batch-settlement']);
    const payer = newVoucherPayer(h);
    await payer.fund(1_000_000n);
    const corrected = await ask(payer.pay(asked, 2n * PRICE));
    expect(schemesIn(corrected)).toEqual(['exact', 'batch-settlement']);
    expect(await ask(payer.pay(corrected, PRICE))).toMatchObject({ status: 200 });
  });
});

it('the stock client with channels finds them by the address that it is given', async () => {
  const wallet = await h.newWallet(10_000_000n);
  const reader = createPublicClient({ transport: http(h.rpcUrl) });
  const network = h.ctx.chain.caip2 as `${string}:${string}`;
  const client = new x402Client()
    .register(network, new ExactEvmScheme(wallet))
    .register(network, new BatchSettlementEvmScheme(toClientEvmSigner(wallet, reader as never)));
  const paying = wrapFetchWithPayment(fetch, client);
  const response = await paying(`${h.baseUrl}/x402/${agent.id}?paymentScheme=batch-settlement`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ task: 'x' }),
  });
  expect(response.status).toBe(200);
  expect(decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')).toMatchObject({
    extra: { chargedAmount: String(PRICE) },
  });
});
