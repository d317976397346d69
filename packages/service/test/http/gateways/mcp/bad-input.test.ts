import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../../src/compose/app.ts';
import { type Answer, type Harness, type RequestOptions, startHarness } from '../../../support/harness.ts';
import { rawRequest } from '../../../support/raw-request.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';
import { databaseDigest } from '../../api/support/database-digest.ts';
import { envelope, modern } from './raw-client.ts';

let h: Harness;
let buyer: Client;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  buyer = await newClient(h, '10');
  agent = await startTestAgent(h);
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const accept = { accept: 'application/json, text/event-stream' };
const post = (options: RequestOptions & { path?: string } = {}): Promise<Answer> =>
  h.request('POST', options.path ?? '/mcp', {
    key: buyer.key,
    ...options,
    headers: { 'content-type': 'application/json', ...accept, ...options.headers },
  });

const call = (name: string, args: unknown, capabilities?: object) =>
  modern('tools/call', { name, arguments: args }, capabilities);
const invoke = (args: object = {}) => call('invoke_agent', { agentId: agent.id, task: 'x', maxCost: '0.05', ...args });
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('a message that the protocol refuses', () => {
  const valid = () => invoke().body;
  const cases: Record<string, { request: () => RequestOptions & { path?: string }; status: number; code: number }> = {
    'that is no JSON': { request: () => ({ text: '{oops' }), status: 400, code: -32700 },
    'that is empty': { request: () => ({ text: '' }), status: 400, code: -32700 },
    'that is no UTF-8': { request: () => ({ text: Uint8Array.from([0x22, 0xff, 0x22]) }), status: 400, code: -32700 },
    'nested 40,000 levels deep': { request: () => ({ text: deep(40_000) }), status: 400, code: -32700 },
    'nested 33 levels deep': { request: () => ({ text: deep(33) }), status: 400, code: -32700 },
    'with __proto__': {
      request: () => ({ text: '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}' }),
      status: 400,
      code: -32700,
    },
    'larger than 1 MiB': { request: () => ({ text: JSON.stringify('x'.repeat(2 ** 20)) }), status: 413, code: -32000 },
    'that is a batch': { request: () => ({ body: [valid(), valid()] }), status: 400, code: -32600 },
    'that is an empty batch': { request: () => ({ body: [] }), status: 400, code: -32600 },
    'that is a number': { request: () => ({ body: 5 }), status: 400, code: -32600 },
    'of another JSON-RPC': {
      request: () => ({ body: { jsonrpc: '1.0', id: 1, method: 'ping' } }),
      status: 400,
      code: -32600,
    },
    'in another content type': {
      request: () => ({ ...invoke(), headers: { ...invoke().headers, 'content-type': 'text/plain' } }),
      status: 415,
      code: -32000,
    },
    'of a protocol version that does not exist': {
      request: () => ({ ...invoke(), headers: { ...invoke().headers, 'mcp-protocol-version': '2031-01-01' } }),
      status: 400,
      code: -32020,
    },
    'whose headers name another tool': {
      request: () => ({ ...invoke(), headers: { ...invoke().headers, 'mcp-name': 'get_agent' } }),
      status: 400,
      code: -32020,
    },
    'from a page of another site': {
      request: () => ({ ...invoke(), headers: { ...invoke().headers, origin: 'https://evil.example' } }),
      status: 403,
      code: -32000,
    },
    'from a page without an origin': {
      request: () => ({ ...invoke(), headers: { ...invoke().headers, origin: 'null' } }),
      status: 403,
      code: -32000,
    },
    'for an agent that does not exist': {
      request: () => ({ ...call('invoke', {}), path: '/agents/agt_none/mcp' }),
      status: 404,
      code: -32602,
    },
    'of an unknown method': { request: () => modern('tools/explode'), status: 404, code: -32601 },
    'of a method that is not served': { request: () => modern('resources/list'), status: 404, code: -32601 },
    'for an unknown tool': { request: () => call('constructor', {}), status: 200, code: -32602 },
    'without the name of a tool': { request: () => modern('tools/call', {}), status: 200, code: -32602 },
  };

  it.each(Object.entries(cases))(
    '%s: it says so in its own error, and nothing is spent',
    async (_name, { request, status, code }) => {
      const before = await databaseDigest(h);
      const calls = agent.calls.length;
      const answer = await post(request());
      expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
      expect(answer.body).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } });
      expect(answer.headers.get('x-request-id')).toBeTruthy();
      expect(await databaseDigest(h)).toEqual(before);
      expect(agent.calls.length).toBe(calls);
    },
  );

  it('of a foreign Host on a loopback listener is refused', async () => {
    const headers = { host: 'evil.example', authorization: `Bearer ${buyer.key}`, 'content-type': 'application/json' };
    expect((await rawRequest(h.baseUrl, { method: 'POST', path: '/mcp', headers })).status).toBe(403);
  });

  it.each(['GET', 'DELETE', 'PUT'])('by %s is 405', async (method) => {
    const answer = await h.request(method, '/mcp', { headers: accept });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  it('with a bad key is 401 before anything is read, and counts against the address', async () => {
    const answer = await post({ key: `${buyer.key}0`, text: '{oops' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(answer.headers.get('x-ratelimit-remaining')).toBeTruthy();
  });

  it('is for nobody when the operator leaves the gateway out', async () => {
    const app = createApp({ ...h.ctx, gateways: new Set() });
    for (const path of ['/mcp', `/agents/${agent.id}/mcp`])
      expect((await app.request(path, { method: 'POST', body: '{}' })).status).toBe(404);
    const { interfaces } = (await h.request('GET', `/agents/${agent.id}`)).body.data;
    expect(interfaces.mcp).toBe(`${h.baseUrl}/agents/${agent.id}/mcp`);
  });

  it('may come from a page of this machine', async () => {
    const answer = await post({
      ...call('get_balance', {}),
      headers: { ...call('get_balance', {}).headers, origin: 'http://localhost:6274' },
    });
    expect(answer.body.result.structuredContent.available).toBe('10.00');
  });
});

describe('arguments that a tool refuses', () => {
  const wrong: Record<string, () => ReturnType<typeof call>> = {
    'without a cap': () => call('invoke_agent', { agentId: agent.id, task: 'x' }),
    'with a cap that is no exact number': () => invoke({ maxCost: 0.1 + 0.2 }),
    'with an unknown name': () => invoke({ max_spend: '0.05' }),
    'with a wait beyond 50 s': () => invoke({ waitSeconds: 51 }),
    'with a key that cannot be a header': () => invoke({ idempotencyKey: 'a\nb' }),
    'with a task of control characters': () => invoke({ task: '\u0000' }),
    'with input that is no object': () => invoke({ input: [1] }),
    'with an agent named by half a character': () => invoke({ agentId: '\udc76' }),
    'with a request named by half a character': () => call('get_invocation', { requestId: '\udc76' }),
    'that are a list': () => call('invoke_agent', [1]),
    'with a payment that is none': () => ({
      ...invoke(),
      body: {
        ...invoke().body,
        params: { ...invoke().body.params, _meta: { ...envelope(), 'x402/payment': { x402Version: 2 } } },
      },
    }),
    'with a payment that is a text': () => ({
      ...invoke(),
      body: { ...invoke().body, params: { ...invoke().body.params, _meta: { ...envelope(), 'x402/payment': 'x' } } },
    }),
  };

  it.each(Object.entries(wrong))(
    '%s: an error of the tool or the protocol, and nothing is spent',
    async (_name, request) => {
      const before = await databaseDigest(h);
      const { status, body } = await post(request());
      expect(status).toBeLessThan(500);
      if (body.result) {
        expect(body.result).toMatchObject({
          isError: true,
          structuredContent: { error: { code: 'VALIDATION_ERROR' } },
        });
        expect(JSON.parse(body.result.content[0].text)).toEqual(body.result.structuredContent);
        expect(body.result.content[0].text).not.toMatch(/Invalid input|Invalid option|Too (big|small)|expected/);
      } else expect(body.error.code).toBe(-32602);
      expect(await databaseDigest(h)).toEqual(before);
    },
  );
});

describe('the limits of a plan', () => {
  it('count each message as a request, and those that invoke as invocations', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const first = await post({ key, ...modern('tools/list') });
    expect(first.headers.get('x-ratelimit-remaining')).toBe('99');
    const unpaid = await post({ key, ...invoke() });
    expect(unpaid.headers.get('x-ratelimit-type')).toBe('invocations');
    const refused = await post({ key, ...call('get_balance', {}) });
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('97');
    const rest = await Promise.all(Array.from({ length: 97 }, () => post({ key, ...modern('tools/list') })));
    expect(new Set(rest.map(({ status }) => status))).toEqual(new Set([200]));
    const over = await post({ key, ...modern('tools/list') });
    expect([over.status, over.body.error.data.code]).toEqual([429, 'RATE_LIMITED']);
    expect(over.headers.get('retry-after')).toBeTruthy();
  });
});

describe('the tasks extension', () => {
  const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

  it('gives a task in the place of a request that has not ended, and its result when it has', async () => {
    let release = () => {};
    agent.behave((_request, response) => {
      release = () =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end('{"result":{"done":true}}');
    });
    const args = { agentId: agent.id, task: 'Long.', maxCost: '0.05', waitSeconds: 0 };
    const created = (await post(call('invoke_agent', args, tasks))).body.result;
    expect(created).toMatchObject({
      resultType: 'task',
      taskId: expect.any(String),
      status: 'working',
      pollIntervalMs: 1000,
    });
    const { taskId } = created;
    expect((await post(modern('tasks/get', { taskId }, tasks))).body.result).toMatchObject({
      resultType: 'complete',
      taskId,
      status: 'working',
    });
    await expect.poll(() => agent.calls.at(-1)?.body.task).toBe('Long.');
    release();
    const read = async () => (await post(modern('tasks/get', { taskId }, tasks))).body.result;
    await expect.poll(async () => (await read()).status).toBe('completed');
    expect((await read()).result).toMatchObject({ structuredContent: { requestId: taskId, result: { done: true } } });
    expect((await post(modern('tasks/cancel', { taskId }, tasks))).body.result).toMatchObject({
      resultType: 'complete',
    });
  });

  it('cancels a task, and refuses those of strangers and clients that did not declare it', async () => {
    agent.behave(() => undefined);
    const args = { agentId: agent.id, task: 'Never.', maxCost: '0.05', waitSeconds: 0 };
    const { taskId } = (await post(call('invoke_agent', args, tasks))).body.result;
    const stranger = await h.newAccount();
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      expect((await post({ key: stranger.key, ...modern(method, { taskId }, tasks) })).body.error.code).toBe(-32602);
    expect((await post(modern('tasks/get', { taskId }))).body.error.code).toBe(-32021);
    expect((await post(modern('tasks/update', { taskId, inputResponses: {} }, tasks))).body.result).toMatchObject({
      resultType: 'complete',
    });
    await post(modern('tasks/cancel', { taskId }, tasks));
    expect((await post(modern('tasks/get', { taskId }, tasks))).body.result).toMatchObject({ status: 'cancelled' });
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId } };
    const old = await post({ body, headers: { 'mcp-protocol-version': '2025-11-25' } });
    expect(JSON.stringify(old.body)).toContain('-32601');
  });
});
