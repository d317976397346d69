import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Harness, RequestOptions } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let agent: TestAgent;
let typed: TestAgent;
let free: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  const inputSchema = { type: 'object', required: ['pages'], properties: { pages: { type: 'integer' } } };
  const owner = await h.newAccount();
  [agent, typed, free] = await Promise.all([
    startTestAgent(h, { perRequest: '0.05' }),
    startTestAgent(h, { owner, perRequest: '0.05' }),
    startTestAgent(h, { perRequest: '0' }),
  ]);
  await h.request('PUT', `/agents/${typed.id}`, { key: owner.key, body: { types: { inputSchema } } });
});
afterAll(async () => {
  await Promise.all([agent.die(), typed.die(), free.die()]);
  await h.stop();
});

const ask = (options: RequestOptions = {}, { to = agent, query = '' } = {}) =>
  h.request('POST', `/x402/${to.id}${query}`, options);
const requiredBy = ({ headers }: Answer) =>
  JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString());

const bodies: [string, RequestOptions][] = [
  ['no body', {}],
  ['an empty body', { text: '' }],
  ['a form', { text: 'task=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  ['no JSON', { text: '{"task":' }],
  ['a list', { body: [] }],
  ['an empty object', { body: {} }],
  ['a task that is a number', { body: { task: 5 } }],
  ['a field of its own', { body: { task: 'x', prompt: 'y' } }],
];

describe('an unpaid call of a priced address returns the terms', () => {
  it.each(bodies)('with %s; with a payment it is refused for that, and nothing is taken', async (_what, options) => {
    const unpaid = await ask(options);
    expect(unpaid).toMatchObject({ status: 402, body: { error: { code: 'PAYMENT_REQUIRED' } } });
    expect(requiredBy(unpaid)).toMatchObject({
      resource: { url: `${h.baseUrl}/x402/${agent.id}` },
      accepts: [{ scheme: 'exact', amount: '50000' }],
      extensions: { bazaar: { info: { input: { method: 'POST' } } }, 'sign-in-with-x': {} },
    });
    const wallet = await h.newWallet(1_000_000n);
    const payment = await payV2(h, wallet, unpaid);
    const calls = agent.calls.length;
    expectError(await ask({ ...options, headers: { ...options.headers, ...payment } }), 'VALIDATION_ERROR');
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    expect(agent.calls).toHaveLength(calls);
    // The same payment pays for a body that can be taken.
    expect(await ask({ body: { task: 'x' }, headers: payment })).toMatchObject({ status: 200 });
  });

  it('also for an input that its agent would not take', async () => {
    const unpaid = await ask({ body: { task: 'x', input: { pages: 'many' } } }, { to: typed });
    expect(unpaid.status).toBe(402);
    const wallet = await h.newWallet(1_000_000n);
    const headers = await payV2(h, wallet, unpaid);
    expectError(
      await ask({ body: { task: 'x', input: { pages: 'many' } }, headers }, { to: typed }),
      'VALIDATION_ERROR',
    );
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  });

  it('and is refused for a free agent, or one that does not exist', async () => {
    expectError(await ask({ body: {} }, { to: free }), 'VALIDATION_ERROR', 'task');
    const nobody = { ...agent, id: `agt_${'0'.repeat(26)}` };
    expectError(await ask({ body: {} }, { to: nobody }), 'NOT_FOUND');
  });
});

it('parameters that links add to the address refuse no payment', async () => {
  const query = '?utm_source=x&ref=1&ref=2';
  const unpaid = await ask({ body: { task: 'x' } }, { query });
  const headers = await payV2(h, await h.newWallet(1_000_000n), unpaid);
  expect(await ask({ body: { task: 'x' }, headers }, { query })).toMatchObject({ status: 200 });
});

it.each(['PUT', 'DELETE'])('%s of a priced address returns the allowed method', async (method) => {
  const answer = await h.request(method, `/x402/${agent.id}`, {});
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

it('a GET offers only what a GET takes, the refund of a channel, and says how the agent is called', async () => {
  const answer = await h.request('GET', `/x402/${agent.id}`, {});
  expect(answer.status).toBe(402);
  const { accepts, extensions } = requiredBy(answer);
  expect(accepts.map(({ scheme }: { scheme: string }) => scheme)).toEqual(['batch-settlement']);
  expect(extensions.bazaar.info.input).toMatchObject({ type: 'http', method: 'POST' });
  expect(answer.body.accepts).toBeUndefined();
});
