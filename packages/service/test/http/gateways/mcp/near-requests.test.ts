import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Harness, RequestOptions } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../../support/treasury.ts';
import { modern } from './raw-client.ts';

// Requests of clients that keep less of the protocol than its newest packages do.

let h: Harness;
let buyer: Client;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  buyer = await newClient(h, '10');
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const json = { 'content-type': 'application/json' };
const post = (options: RequestOptions & { path?: string }) =>
  h.request('POST', options.path ?? '/mcp', { key: buyer.key, ...options, headers: { ...json, ...options.headers } });

const legacy = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const invoke = (id: number, task: string) =>
  legacy(id, 'tools/call', { name: 'invoke_agent', arguments: { agentId: agent.id, task, maxCost: '0.05' } });

describe.each([
  ['nothing', undefined],
  ['anything', '*/*'],
  ['JSON only', 'application/json'],
  ['something else', 'text/html'],
])('a client that accepts %s', (_what, accept) => {
  const headers = accept === undefined ? {} : { accept };

  it.each([['/mcp'], ['/mcp/'], [`/agents/:id/mcp/`]])('is answered in JSON at %s', async (place) => {
    const path = place.replace(':id', agent.id);
    const old = await post({ path, headers, body: legacy(1, 'tools/list') });
    expect(old.headers.get('content-type')).toBe('application/json');
    expect(old.body).toMatchObject({ jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) } });
    const call = modern('tools/list');
    const { accept: _, ...others } = call.headers;
    const newest = await post({ path, headers: { ...others, ...headers }, body: call.body });
    expect(newest.body.result.tools).toEqual(old.body.result.tools);
  });

  it('gets the result of a call that tells its progress', async () => {
    const { params, ...call } = invoke(4, `Quietly, as ${_what}.`);
    const answer = await post({ headers, body: { ...call, params: { ...params, _meta: { progressToken: 1 } } } });
    expect(answer.body).toMatchObject({ id: 4, result: { structuredContent: { status: 'completed' } } });
  });
});

const manyArguments = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`a${nth}`, 1]));

describe('a batch of the protocol of 2025-03-26', () => {
  it.each([
    ['JSON', 'application/json'],
    ['events', 'application/json, text/event-stream'],
  ])('is answered as %s: each message once, and bought once', async (_as, accept) => {
    const { available } = await balanceOf(h, buyer.key);
    const body = [invoke(1, `One ${_as}`), { jsonrpc: '2.0', method: 'notifications/initialized' }, legacy(2, 'ping')];
    const { status, headers, body: answered } = await post({ headers: { accept }, body });
    expect(status).toBe(200);
    const isEvents = headers.get('content-type') === 'text/event-stream';
    const events = () => answered.matchAll(/^data: (\{.*)$/gm).map(([, data]: string[]) => JSON.parse(data ?? ''));
    const answers: { id: number; result: object }[] = isEvents ? [...events()] : answered;
    expect(answers.toSorted((a, b) => a.id - b.id)).toMatchObject([
      { id: 1, result: { structuredContent: { status: 'completed', cost: '0.05' } } },
      { id: 2, result: {} },
    ]);
    expect(Number(available) - Number((await balanceOf(h, buyer.key)).available)).toBeCloseTo(0.05, 6);
  });

  it('counts as many requests as it has messages, and is refused when the plan has fewer', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const list = (messages: number) => Array.from({ length: messages }, (_, id) => legacy(id, 'tools/list'));
    const first = await post({ key, body: list(20) });
    expect(first.headers.get('x-ratelimit-remaining')).toBe('80');
    for (let left = 60; left >= 0; left -= 20) await post({ key, body: list(20) });
    const over = await post({ key, body: list(1) });
    expect(over.status).toBe(429);
  });

  it.each([
    ['with two messages of one id', () => ({ body: [legacy(1, 'ping'), legacy(1, 'ping')] })],
    ['of 21 messages', () => ({ body: Array.from({ length: 21 }, (_, id) => legacy(id, 'ping')) })],
    [
      'with 2,001 arguments in all',
      () => ({ body: [1, 2, 3].map((id) => legacy(id, 'tools/call', { name: 'x', arguments: manyArguments(667) })) }),
    ],
    ['of nothing', () => ({ body: [] })],
    ['of things that are no messages', () => ({ body: [1, 'x'] })],
    ['in a later protocol', () => ({ body: [legacy(1, 'ping')], headers: { 'mcp-protocol-version': '2025-06-18' } })],
  ])('%s is refused, and nothing of it is done', async (_how, request: () => RequestOptions) => {
    const { status, body } = await post(request());
    expect([status, body.error.code]).toEqual([400, -32_600]);
  });
});

describe('OAuth, which the node does not have', () => {
  it('is refused in words that the stock client shows', async () => {
    const provider = {
      redirectUrl: 'http://127.0.0.1:9/callback',
      clientMetadata: { redirect_uris: ['http://127.0.0.1:9/callback'] },
      clientInformation: () => undefined,
      saveClientInformation: () => undefined,
      tokens: () => undefined,
      saveTokens: () => undefined,
      redirectToAuthorization: () => undefined,
      saveCodeVerifier: () => undefined,
      codeVerifier: () => '',
    } satisfies OAuthClientProvider;
    // The node of this process has replaced the global Response, which the client compares answers with.
    const fetchFn: typeof fetch = async (url, init) => {
      const answered = await fetch(url, init);
      return new Response(await answered.text(), { status: answered.status, headers: answered.headers });
    };
    const signingIn = auth(provider, { serverUrl: `${h.baseUrl}/mcp`, fetchFn });
    await expect(signingIn).rejects.toThrow(/no OAuth.*Authorization: Bearer/);
  });

  it.each(['/token', '/register'])('at %s is an error of OAuth', async (path) => {
    const { status, body } = await h.request('POST', path, { text: 'grant_type=authorization_code' });
    expect(status).toBe(400);
    expect(body).toEqual({ error: 'access_denied', error_description: expect.stringContaining('API key') });
  });
});
