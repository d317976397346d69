import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
import { echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';
import { callTool } from './mcp/raw-client.ts';

let h: Harness;
let buyer: Client;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  buyer = await newClient(h, '10');
  agent = await startTestAgent(h, { perRequest: '0.01' });
  agent.behave(echo);
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

/** About 1 MB, for which the SDK of MCP took 1.0 to 3.6 s. */
const wide = () => Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`k${at}`, {}]));
const list = () => Array(300_000).fill({});
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const mcp = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const info = { name: 'test', version: '1' };
const initialize = (capabilities: object, clientInfo: object = info) =>
  rpc('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo });
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
const a2a = { 'a2a-version': '1.0' };

describe('1 MB that is not the content of a call is refused before a library walks it', () => {
  it.each<[string, string, () => unknown, Record<string, string>]>([
    ['capabilities of MCP', '/mcp', () => initialize({ experimental: wide() }), mcp],
    ['client information of MCP', '/mcp', () => initialize({}, { ...info, icons: list() }), mcp],
    ['metadata of MCP', '/mcp', () => rpc('ping', { _meta: wide() }), mcp],
    ['the id of MCP', '/mcp', () => ({ ...rpc('ping', {}), id: list() }), mcp],
    ['a parameter of MCP', '/mcp', () => rpc('tools/list', { cursor: list() }), mcp],
    ['messages of a batch of MCP', '/mcp', () => Array(15_000).fill(rpc('ping', {})), mcp],
    ['metadata of A2A', '/a2a', () => rpc('SendMessage', { message: { ...message, metadata: wide() } }), a2a],
    ['parts of A2A', '/a2a', () => rpc('SendMessage', { message: { ...message, parts: list() } }), a2a],
    ['extensions of A2A', '/a2a/message:send', () => ({ message: { ...message, extensions: list() } }), a2a],
    ['parts of messages', '/v1/chat/completions', () => ({ model: 'x', messages: [{ content: list() }] }), {}],
    ['tools of a chat', '/v1/responses', () => ({ model: 'x', input: 'x', tools: list() }), {}],
    ['unknown fields', '/agents/search', () => ({ query: 'x', ...wide() }), {}],
    ['a list of a challenge', '/auth/challenge', () => ({ address: list() }), {}],
  ])('%s', async (_, path, body, headers) => {
    const text = JSON.stringify(body());
    expect(text.length).toBeGreaterThan(600_000);
    const answer = await h.request('POST', path, { text, headers: { 'content-type': 'application/json', ...headers } });
    expect(JSON.stringify(answer.body)).toMatch(/The body has more than \d+ (values|fields)/);
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });
});

it('large content reaches the agent by every gateway', async () => {
  const input = { list: Array(60_000).fill('0123456789') };
  const { key } = buyer;
  const answers = [
    (await callTool(h.baseUrl, key, 'invoke_agent', { agentId: agent.id, task: 't', maxCost: '1', input })).body,
    (await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 't', input }, headers: { 'x-sync': 'true' } }))
      .body,
    (
      await h.request('POST', `/a2a/${agent.id}`, {
        key,
        headers: a2a,
        body: rpc('SendMessage', { message: { ...message, parts: [{ text: 't' }, { data: input }] } }),
      })
    ).body,
  ];
  for (const answer of answers) expect(JSON.stringify(answer)).not.toMatch(/has more than/);
  expect(agent.calls).toHaveLength(3);
  for (const { body } of agent.calls) expect((body as { input: typeof input }).input.list).toHaveLength(60_000);
});
