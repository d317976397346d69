import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../support/books.ts';
import { callAndDie } from '../../support/dying-process.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { payV1, payV2 } from '../../support/x402-payer.ts';
import { openSse } from './support/sse-client.ts';
import { chunk, result, says } from './support/streaming-agent.ts';

let h: Harness;
let agent: TestAgent;
let keyCount = 0;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const versions = [
  { version: 'v2', pay: payV2, header: 'payment-response', other: 'x-payment-response' },
  { version: 'v1', pay: payV1, header: 'x-payment-response', other: 'payment-response' },
] as const;
const things = [
  { thing: 'an invocation', path: () => `/invoke/${agent.id}`, body: { task: 'x' } },
  {
    thing: 'an invocation whose result goes elsewhere',
    path: () => `/invoke/${agent.id}`,
    body: { task: 'x', webhookUrl: 'http://127.0.0.1:1/never' },
  },
  { thing: 'a deposit', path: () => '/payments/treasury/deposit', body: { amount: '0.05' } },
];
const cases = versions.flatMap((each) => things.map((thing) => ({ ...each, ...thing })));

async function payer() {
  const { key } = await h.newAccount();
  await h.request('POST', '/payments/treasury', { key, body: {} });
  return { key, wallet: await h.newWallet(50_000n), force: { 'x-payment-method': 'x402' } };
}

describe.each(cases)('$thing paid by x402 $version, told again', ({ pay, header, other, path, body }) => {
  const headersOf = (answer: { headers: Headers }) => [answer.headers.get(header), answer.headers.get(other)];

  it('for the same payment, or for its Idempotency-Key without one, says in the same header how it was paid', async () => {
    const { key, wallet, force } = await payer();
    const keyed = { ...force, 'idempotency-key': `paid-${keyCount++}` };
    const payment = await pay(h, wallet, await h.request('POST', path(), { key, body, headers: keyed }));
    const first = await h.request('POST', path(), { key, body, headers: { ...keyed, ...payment } });
    const [told, nothing] = headersOf(first);
    const response = JSON.parse(Buffer.from(told ?? '', 'base64').toString());
    expect([first.status, response.success, response.payer, nothing]).toEqual([
      ...[200, true, wallet.address.toLowerCase(), null],
    ]);
    for (const headers of [{ ...force, ...payment }, keyed, { ...keyed, ...payment }]) {
      const again = await h.request('POST', path(), { key, body, headers });
      expect([again.status, ...headersOf(again)]).toEqual([200, told, null]);
      expect(again.headers.get('idempotency-replayed')).toBe('idempotency-key' in headers ? 'true' : null);
    }
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });

  it('after the process died before it kept the answer, says it as well', async () => {
    const { key, wallet, force } = await payer();
    const keyed = { ...force, 'idempotency-key': `paid-${keyCount++}` };
    const payment = await pay(h, wallet, await h.request('POST', path(), { key, body, headers: keyed }));
    const first = await callAndDie(h, path(), { key, body, headers: { ...keyed, ...payment } });
    expect(first.status).toBe(200);
    for (let times = 0; times < 2; times++) {
      const again = await h.request('POST', path(), { key, body, headers: keyed });
      expect([again.status, ...headersOf(again)]).toEqual([200, ...headersOf(first)]);
    }
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });
});

it('a paid stream told again for its Idempotency-Key says it as well', async () => {
  agent.behave(says(chunk('a'), result('b')));
  const { key, wallet, force } = await payer();
  const body = { task: 'x', stream: true };
  const keyed = { ...force, 'idempotency-key': `paid-${keyCount++}` };
  const path = `/invoke/${agent.id}`;
  const payment = await payV2(h, wallet, await h.request('POST', path, { key, body, headers: keyed }));
  const first = await openSse(h, 'POST', path, { key, body, headers: { ...keyed, ...payment } });
  const events = await first.rest();
  const again = await openSse(h, 'POST', path, { key, body, headers: keyed });
  expect(again.headers.get('payment-response')).toBe(first.headers.get('payment-response'));
  expect(first.headers.get('payment-response')).not.toBeNull();
  expect(await again.rest()).toEqual(events);
});
