import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../../src/compose/app.ts';
import { type Harness, type RequestOptions, startHarness } from '../../../support/harness.ts';
import { rawRequest } from '../../../support/raw-request.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';
import { payV1, payV2 } from '../../../support/x402-payer.ts';
import { databaseDigest } from '../../api/support/database-digest.ts';

let h: Harness;
let buyer: Client;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  buyer = await newClient(h, '10');
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const said = [{ role: 'user', content: 'x' }];
const chat = (more: object = {}) => ({ model: agent.id, messages: said, ...more });
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

type Refused = RequestOptions & { readonly method?: string; readonly path?: string };

/** What is sent, and the status and code that it is refused with; a chat completion where nothing else is said. */
const cases: Record<string, [send: () => Refused, status: number, code: string]> = {
  'that is no JSON': [() => ({ text: '{oops' }), 400, 'validation_error'],
  'that is empty': [() => ({ text: '' }), 400, 'validation_error'],
  'that is no UTF-8': [() => ({ text: Uint8Array.from([0x22, 0xff, 0x22]) }), 400, 'validation_error'],
  'nested 40,000 levels deep': [() => ({ text: deep(40_000) }), 400, 'validation_error'],
  'nested 33 levels deep': [() => ({ text: deep(33) }), 400, 'validation_error'],
  'with __proto__': [() => ({ text: '{"model":"x","__proto__":{}}' }), 400, 'validation_error'],
  'larger than 1 MiB': [() => ({ text: JSON.stringify('x'.repeat(2 ** 20)) }), 400, 'payload_too_large'],
  'that is a batch': [() => ({ body: [chat(), chat()] }), 400, 'validation_error'],
  'that is a number': [() => ({ body: 5 }), 400, 'validation_error'],
  'in another content type': [
    () => ({ text: JSON.stringify(chat()), headers: { 'content-type': 'text/plain' } }),
    400,
    'validation_error',
  ],
  'as a form': [
    () => ({ text: 'model=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    400,
    'validation_error',
  ],
  'for a model that does not exist': [() => ({ body: chat({ model: 'gpt-9' }) }), 404, 'model_not_found'],
  'for a model with a path for a name': [() => ({ body: chat({ model: '../agents' }) }), 404, 'model_not_found'],
  'with 2,001 messages': [
    () => ({ body: chat({ messages: Array.from({ length: 2001 }, () => said[0]) }) }),
    400,
    'validation_error',
  ],
  'with a task beyond the limit': [
    () => ({ body: chat({ messages: [{ role: 'user', content: 'x'.repeat(100_001) }] }) }),
    400,
    'validation_error',
  ],
  'with a task of control characters': [
    () => ({ body: chat({ messages: [{ role: 'user', content: '\u0000' }] }) }),
    400,
    'validation_error',
  ],
  'that repeats a task of control characters': [
    () => ({
      body: chat({ messages: [{ role: 'user', content: 'a\u0000' }] }),
      headers: { 'x-stainless-retry-count': '1' },
    }),
    400,
    'validation_error',
  ],
  'that repeats a call of a model with a name of control characters': [
    () => ({ body: chat({ model: 'a\u0000' }), headers: { 'x-stainless-retry-count': '1' } }),
    400,
    'validation_error',
  ],
  'with metadata that is a list': [() => ({ body: chat({ metadata: [1] }) }), 400, 'validation_error'],
  'under a key that cannot be a header’s': [
    () => ({ body: chat(), headers: { 'idempotency-key': 'a b' } }),
    400,
    'validation_error',
  ],
  'with a payment that is no JSON': [
    () => ({ body: chat(), headers: { 'payment-signature': 'not base64!' } }),
    400,
    'validation_error',
  ],
  'with a payment of another form': [
    () => ({ body: chat(), headers: { 'payment-signature': Buffer.from('{"x402Version":2}').toString('base64') } }),
    400,
    'validation_error',
  ],
  'with a way to pay that does not exist': [
    () => ({ body: chat(), headers: { 'x-payment-method': 'card' } }),
    400,
    'validation_error',
  ],
  'for a response that goes on from a stranger’s': [
    () => ({ path: '/v1/responses', body: { model: agent.id, input: 'x', previous_response_id: 'req_none' } }),
    400,
    'validation_error',
  ],
  'for a response that goes on from half a character': [
    () => ({ path: '/v1/responses', body: { model: agent.id, input: 'x', previous_response_id: '\udc76' } }),
    400,
    'validation_error',
  ],
  'for a model named by half a character': [() => ({ body: chat({ model: '\udc76' }) }), 400, 'validation_error'],
  'for a streamed response in the background': [
    () => ({ path: '/v1/responses', body: { model: agent.id, input: 'x', stream: true, background: true } }),
    400,
    'validation_error',
  ],
  'for a response that was made before, as a stream': [
    () => ({ method: 'GET', path: '/v1/responses/req_none?stream=true' }),
    400,
    'validation_error',
  ],
  'of an unknown path': [() => ({ path: '/v1/embeddings', body: {} }), 404, 'not_found'],
  'by an unknown method': [() => ({ method: 'DELETE', path: '/v1/responses/req_none' }), 404, 'not_found'],
  'of models that start at no cursor': [
    () => ({ method: 'GET', path: '/v1/models?after=%00' }),
    400,
    'validation_error',
  ],
  'of another version of the API': [() => ({ path: '/v2/chat/completions', body: {} }), 404, 'NOT_FOUND'],
};

describe('a request that this API refuses', () => {
  it.each(Object.entries(cases))('%s: it says so in its own error, and nothing is spent', async (_name, refused) => {
    const [send, status, code] = refused;
    const before = await databaseDigest(h);
    const calls = agent.calls.length;
    const { method = 'POST', path = '/v1/chat/completions', headers = {}, ...sent } = send();
    const type = 'text' in sent ? { 'content-type': 'application/json' } : {};
    const answer = await h.request(method, path, { key: buyer.key, ...sent, headers: { ...type, ...headers } });
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(answer.body.error.message).toMatch(/^[A-Z]/);
    expect(answer.body.error.message).not.toMatch(/Invalid input|Invalid option|Too (big|small)|expected/);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
    if (path.startsWith('/v1/')) expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await databaseDigest(h)).toEqual(before);
    expect(agent.calls.length).toBe(calls);
  });

  it('with a good payment in each header, two in all, or with more behind it: nothing is spent', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const call = (headers: Record<string, string>) =>
      h.request('POST', '/v1/chat/completions', { key: buyer.key, body: chat(), headers });
    const unpaid = await call({ 'x-payment-method': 'x402' });
    const { 'x-payment': v1 = '' } = await payV1(h, wallet, unpaid);
    const { 'payment-signature': v2 = '' } = await payV2(h, wallet, unpaid);
    const before = await databaseDigest(h);
    for (const [headers, param] of [
      [{ 'payment-signature': v2, 'x-payment': v1 }, 'X-PAYMENT'],
      [{ 'payment-signature': `${v2}!` }, 'PAYMENT-SIGNATURE'],
      [{ 'x-payment': `${v1}!` }, 'X-PAYMENT'],
    ] as const) {
      const { status, body } = await call(headers);
      expect([status, body.error.code]).toEqual([400, 'validation_error']);
      expect(String(body.error.param).split('.')[0]).toBe(param);
    }
    expect(await databaseDigest(h)).toEqual(before);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  });

  it('for a response that goes on from one without an answer: it says so, and nothing is bought', async () => {
    const [asked, fails] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const failing = await startTestAgent(h, {
      perRequest: '0.05',
      behaviour: async (_request, response) => {
        asked.resolve();
        await fails.promise;
        response.writeHead(500).end();
      },
    });
    const create = (body: object) => h.request('POST', '/v1/responses', { key: buyer.key, body });
    const { id } = (await create({ model: failing.id, input: 'x', background: true })).body;
    const goOn = async () => {
      const answer = await create({ model: agent.id, input: 'y', previous_response_id: id });
      expect([answer.status, answer.body.error?.code]).toEqual([400, 'validation_error']);
      expect(answer.body.error).toMatchObject({
        param: 'previous_response_id',
        message: expect.stringContaining('not completed'),
      });
    };
    const bought = async () =>
      (await h.request('GET', `/invoke/history?agentId=${agent.id}`, { key: buyer.key })).body.data.total;
    const before = await bought();
    await asked.promise;
    await goOn();
    fails.resolve();
    const status = async () => (await h.request('GET', `/v1/responses/${id}`, { key: buyer.key })).body.status;
    await expect.poll(status).toBe('failed');
    await goOn();
    expect(await bought()).toBe(before);
    await failing.die();
  });

  it('of a page of another site, or through another name of this machine, has no key and spends nothing', async () => {
    const before = await databaseDigest(h);
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) {
      const session = { ...headers, cookie: 'session=x', 'content-type': 'application/json' };
      const read = await rawRequest(h.baseUrl, {
        method: 'POST',
        path: '/v1/responses/req_1/cancel',
        headers: session,
      });
      expect(read.status).toBe(401);
      expect(read.headers['access-control-allow-credentials']).toBeUndefined();
    }
    expect(await databaseDigest(h)).toEqual(before);
  });

  it('is for nobody when the operator leaves the gateway out', async () => {
    const app = createApp({ ...h.ctx, gateways: new Set() });
    expect((await app.request('/v1/models')).status).toBe(404);
  });
});
