import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import { callTool } from '../../gateways/mcp/raw-client.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let owner: TestAccount;
let thief: TestAccount;
let client: Client;
let honest: TestAgent;
/** Agent of the thief, whose name follows that of the honest one. */
let squatter: TestAgent;

beforeAll(async () => {
  h = await startHarness();
  [owner, thief, client] = await Promise.all([h.newAccount(), h.newAccount(), newClient(h, '5')]);
  honest = await startTestAgent(h, { owner, name: 'Case Converter', perRequest: '0.05' });
  squatter = await startTestAgent(h, { owner: thief, name: 'Ｃａｓｅ  Converter', perRequest: '0.05' });
});
afterAll(async () => {
  await Promise.all([honest.die(), squatter.die()]);
  await h.stop();
});

const path = (name: string) => encodeURIComponent(name);
const call = (name: string, query = '') =>
  h.request('POST', `/invoke/${path(name)}${query}`, {
    key: client.key,
    body: { task: 'x', maxCost: '0.05' },
    headers: { 'x-sync': 'true' },
  });
const rename = (id: string, { key }: TestAccount, name: string) =>
  h.request('PUT', `/agents/${id}`, { key, body: { name } });
const slugOf = async (id: string) => (await h.request('GET', `/agents/${id}`)).body.data.slug;

it('reads take the slug, and the page address, in place of the id', async () => {
  const address = `some-words-${honest.id.slice(4)}`;
  for (const name of ['case-converter', address, honest.id])
    for (const rest of ['', '/status', '/reputation', '/health', '/alternatives']) {
      const { status, body } = await h.request('GET', `/agents/${name}${rest}`);
      expect([name, rest, status]).toEqual([name, rest, 200]);
      if (rest === '') expect(body.data).toMatchObject({ id: honest.id, slug: 'case-converter' });
    }
  expect((await h.request('GET', '/identity/case-converter')).body.data.id).toBe(honest.id);
  expect(await slugOf(squatter.id)).toBeNull();
});

it('browsers are led from the slug to the page of the agent', async () => {
  const headers = { accept: 'text/html' };
  const { status, headers: told } = await h.request('GET', '/agents/case-converter', { headers });
  expect([status, told.get('location')]).toEqual([301, `/agents/case-converter-${honest.id.slice(4)}`]);
  expect((await h.request('GET', '/agents/nobody-at-all', { headers })).status).toBe(404);
});

it.each(['Case Converter', 'CASE CONVERTER', 'ｃａｓｅ converter'])(
  'a name that a second agent has is refused, and names both: %s',
  async (name) => {
    const { status, body } = await call(name);
    expect(status).toBe(400);
    expect(body.error.message).toContain(honest.id);
    expect(body.error.message).toContain(squatter.id);
    expect([...honest.calls, ...squatter.calls]).toEqual([]);
  },
);

it('a call, a quote and a bulk request by slug are about the agent that was first', async () => {
  const { data: quote } = (
    await h.request('POST', '/invoke/case-converter/quote', { key: client.key, body: { task: 'x' } })
  ).body;
  expect((await call('case-converter', `?quote=${quote.quoteId}`)).body.data).toMatchObject({
    agentId: honest.id,
    status: 'completed',
    cost: '0.05',
  });
  const bulk = { task: 'x', agents: ['case-converter', squatter.id] };
  const { body } = await h.request('POST', '/invoke/bulk', { key: client.key, body: bulk });
  expect(body.data.requests.map(({ agentId }: { agentId: string }) => agentId)).toEqual([honest.id, squatter.id]);
  const twice = { task: 'x', agents: ['case-converter', honest.id] };
  expectError(await h.request('POST', '/invoke/bulk', { key: client.key, body: twice }), 'VALIDATION_ERROR');
});

it('a call and a bulk request under one key are the same by slug, name and id', async () => {
  const headers = { 'x-sync': 'true', 'idempotency-key': 'by-any-name' };
  const post = (to: string, body: object) =>
    h.request('POST', to, { key: client.key, body: { task: 'x', ...body }, headers });
  const first = (await post('/invoke/case-converter', {})).body.data;
  expect(first).toMatchObject({ agentId: honest.id, status: 'completed' });
  for (const name of [honest.id, `some-words-${honest.id.slice(4)}`])
    expect((await post(`/invoke/${name}`, {})).body.data).toEqual(first);
  expectError(await post(`/invoke/${squatter.id}`, {}), 'IDEMPOTENCY_KEY_REUSED');
  headers['idempotency-key'] = 'bulk-by-any-name';
  const bulk = (await post('/invoke/bulk', { agents: ['case-converter', squatter.id] })).body.data;
  expect(bulk.requests[0].agentId).toBe(honest.id);
  expect((await post('/invoke/bulk', { agents: [honest.id, squatter.id] })).body.data.bulkId).toBe(bulk.bulkId);
});

it('a wallet pays by slug for the agent that the terms name, and for no other', async () => {
  const unpaid = await h.request('POST', '/x402/case-converter', { body: { task: 'x' } });
  expect(unpaid.status).toBe(402);
  expect(JSON.stringify(unpaid.body)).toContain(`/x402/${honest.id}`);
  const headers = await payV2(h, await h.newWallet(), unpaid);
  expectError(await h.request('POST', `/x402/${squatter.id}`, { body: { task: 'x' }, headers }), 'PAYMENT_REQUIRED');
  const paid = await h.request('POST', '/x402/case-converter', { body: { task: 'x' }, headers });
  expect(paid.body.data).toMatchObject({ agentId: honest.id, status: 'completed' });
});

it('models and tools take the slug, and show the id', async () => {
  const headers = { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' };
  const post = async (to: string, body: object) =>
    (await fetch(h.baseUrl + to, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<{
      readonly model: string;
      readonly error: object;
    }>;
  const said = { messages: [{ role: 'user', content: 'x' }], max_cost: '0.05' };
  const model = await fetch(`${h.baseUrl}/v1/models/case-converter`);
  expect(await model.json()).toMatchObject({ id: honest.id });
  expect((await post('/v1/chat/completions', { model: 'case-converter', ...said })).model).toBe(honest.id);
  const args = { agentId: 'case-converter', task: 'x', maxCost: '0.05' };
  const tool = await callTool(h.baseUrl, client.key, 'invoke_agent', args);
  expect(tool.body.result.structuredContent).toMatchObject({ agentId: honest.id, status: 'completed' });
  const ambiguous = await post('/v1/chat/completions', { model: 'Case Converter', ...said });
  expect(ambiguous.error).toMatchObject({ param: 'model', message: expect.stringContaining(squatter.id) });
});

it('keeps the slug of a renamed agent from everybody else, and gives it that of its new name', async () => {
  await rename(honest.id, owner, 'Text Tools');
  // The thief takes the former name for itself alone.
  await rename(squatter.id, thief, 'Case Converter');
  expect((await call('case-converter')).body.data.agentId).toBe(honest.id);
  expect((await call('text-tools')).body.data.agentId).toBe(honest.id);
  expect((await call('Text Tools')).body.data.agentId).toBe(honest.id);
  const before = squatter.calls.length;
  expectError(await call('Case Converter'), 'VALIDATION_ERROR');
  expect(squatter.calls.length).toBe(before);
  expect(await slugOf(honest.id)).toBe('text-tools');
});

it('does not follow an agent that takes many names', async () => {
  for (let each = 1; each <= 6; each++) await rename(squatter.id, thief, `Name ${each}`);
  expect((await h.request('GET', '/agents/name-2')).status).toBe(200);
  expect((await h.request('GET', '/agents/name-6')).status).toBe(404);
});

it('keeps the slug of a removed agent for its account', async () => {
  const body = { name: 'Text Tools', capabilities: ['x'], rates: { perRequest: '0' }, endpoint: honest.endpoint };
  const register = async ({ key }: TestAccount) => (await h.request('POST', '/agents', { key, body })).body.data.id;
  await h.request('DELETE', `/agents/${honest.id}`, { key: owner.key });
  const stolen = await register(thief);
  for (const name of ['text-tools', 'case-converter']) expectError(await call(name), 'NOT_FOUND');
  expectError(await call('Text Tools'), 'VALIDATION_ERROR');
  const successor = await register(owner);
  expect(await slugOf(successor)).toBe('text-tools');
  expect((await h.request('GET', '/agents/text-tools')).body.data.id).toBe(successor);
  expect(await slugOf(stolen)).toBeNull();
});

it.each(['no-such-agent', 'No such agent', 'Сase Converter', '翻訳', 'auto-', '-'])(
  'knows nobody by %s',
  async (name) => {
    const { status } = await h.request('GET', `/agents/${path(name)}`);
    expect([400, 404]).toContain(status);
  },
);
