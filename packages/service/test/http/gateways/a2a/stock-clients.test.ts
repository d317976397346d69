import { createPublicKey, randomUUID } from 'node:crypto';
import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';
import { paymentOf } from '../../../support/x402-payer.ts';
import { type StockSite, startStockSite } from '../stock-site.ts';
import { stockClients } from './stock-clients.ts';

let site: StockSite;
let h: Harness;
let buyer: Client;
let echo: TestAgent;
let slow: TestAgent;
let failing: TestAgent;
let streaming: TestAgent;
let spent: StockSite['spent'];

beforeAll(async () => {
  site = await startStockSite(await borrowHarness(), { name: 'Echo', capabilities: ['a2a-echo'] });
  ({ h, buyer, working: echo, slow, failing, streaming, spent } = site);
});
afterAll(async () => site?.stop());

const urlOf = (agent: TestAgent) => `${h.baseUrl}/a2a/${agent.id}`;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const all = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
};
const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it was answered'),
    (error) => error as Error,
  );
const REQUIRED = 'x402.payment.required';
const STATUS = 'x402.payment.status';

describe.each(stockClients)('%s', (_name, connect) => {
  it('buys a task from the treasury, and reads it again', async () => {
    const client = await connect(urlOf(echo), bearer(buyer.key));
    const contextId = randomUUID();
    let task = await client.send({ text: 'hello', data: { a: 1 }, contextId });
    expect(task).toMatchObject({ state: 'completed', contextId, data: { echo: 'hello', input: { a: 1 } } });
    expect(task.ours).toMatchObject({ cost: '0.05', paymentMethod: 'treasury' });
    expect(await client.get(task.id)).toEqual(task);
    const record = await h.request('GET', `/invoke/${task.id}`, { key: buyer.key });
    expect(record.body.data).toMatchObject({ status: 'completed', cost: '0.05', task: 'hello' });
    // The same message is the same purchase.
    const messageId = randomUUID();
    const cost = await spent(async () => {
      task = await client.send({ text: 'once', messageId });
      expect((await client.send({ text: 'once', messageId })).id).toBe(task.id);
    });
    expect(cost).toBe(0.05);
  });

  it('streams what the agent says, its result and its end', async () => {
    const client = await connect(urlOf(streaming), bearer(buyer.key));
    const events = await all(client.stream({ text: 'go' }));
    const kinds = events.map(([kind, what]) => [kind, what]).filter(([, what]) => what !== 'working');
    const [first, ...rest] = kinds[0]?.[0] === 'task' ? kinds : [['task', 'working'], ...kinds];
    expect(first?.[0]).toBe('task');
    expect(rest).toEqual([
      ['stream', 'one '],
      ['stream', 'two'],
      ['result', 'one two'],
      ['status', 'completed'],
    ]);
  });

  it('returns at once, follows the task, and cancels it with its money back', async () => {
    const client = await connect(urlOf(slow), bearer(buyer.key));
    const cost = await spent(async () => {
      const { id, state } = await client.send({ text: 'wait', isImmediate: true });
      expect(['submitted', 'working']).toContain(state);
      // It may be cancelled before it is followed.
      const following = all(client.follow(id)).catch(() => []);
      expect(await client.cancel(id)).toMatchObject({ id, state: 'canceled' });
      const events = await following;
      if (events.length > 0) expect(events.at(-1)).toEqual(['status', 'canceled', id]);
      expect((await failure(client.cancel(id))).message).toMatch(/cannot be cancell?ed/);
      await failure(all(client.follow(id)));
    });
    expect(cost).toBe(0);
  });

  it('configures push notifications for a task', async () => {
    const client = await connect(urlOf(slow), bearer(buyer.key));
    const { id } = await client.send({ text: 'wait', isImmediate: true });
    const url = `${h.baseUrl}/hook`;
    expect(await client.configurePush(id, url)).toEqual([url, [url]]);
    await client.cancel(id);
  });

  it('gets the reason of a failure, and a refund', async () => {
    const client = await connect(urlOf(failing), bearer(buyer.key));
    const cost = await spent(async () => {
      const task = await client.send({ text: 'x' });
      expect(task).toMatchObject({ state: 'failed', metadata: { code: 'agent_error', refund: '0.05' } });
    });
    expect(cost).toBe(0);
  });

  it('pays a task with x402, without a key', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const client = await connect(urlOf(echo));
    const asked = await client.send({ text: 'paid', contextId: 'chat-1' });
    expect(asked).toMatchObject({ state: 'input-required', contextId: 'chat-1' });
    expect(asked.metadata[STATUS]).toBe('payment-required');
    expect(await client.get(asked.id)).toMatchObject({ id: asked.id, state: 'input-required' });
    const calls = echo.calls.length;

    // biome-ignore lint/suspicious/noExplicitAny: a payment with something wrong in it
    const good: any = await paymentOf(h, wallet, asked.metadata[REQUIRED]);
    const wrong = { ...good, payload: { ...good.payload, signature: `0x${'11'.repeat(65)}` } };
    const submit = (payload: unknown) =>
      client.send({
        text: 'Here is the payment.',
        taskId: asked.id,
        metadata: { [STATUS]: 'payment-submitted', 'x402.payment.payload': payload },
      });
    const refused = await submit(wrong);
    expect(refused).toMatchObject({ id: asked.id, state: 'input-required' });
    expect(refused.metadata).toMatchObject({ [STATUS]: 'payment-failed', 'x402.payment.error': 'INVALID_SIGNATURE' });
    expect(echo.calls.length).toBe(calls);

    const paid = await submit(good);
    expect(paid).toMatchObject({ id: asked.id, contextId: 'chat-1', state: 'completed', data: { echo: 'paid' } });
    expect(paid.metadata).toMatchObject({
      [STATUS]: 'payment-completed',
      'x402.payment.receipts': [{ success: true, transaction: expect.stringMatching(/^0x/) }],
    });
    // The same payment again is the same task, and is not run twice.
    expect((await submit(good)).id).toBe(asked.id);
    expect(echo.calls.length).toBe(calls + 1);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
    // It is read with its token only.
    expect((await failure(client.get(asked.id))).message).toMatch(/no such task|task not found/i);
    const token = paid.ours.resultToken;
    expect(await client.get(asked.id, { 'X-Result-Token': token })).toMatchObject({ state: 'completed' });
  });

  it('declines terms: the task fails, and nothing is charged', async () => {
    const poor = await h.newAccount();
    const client = await connect(urlOf(echo), bearer(poor.key));
    const asked = await client.send({ text: 'too dear' });
    expect(asked).toMatchObject({ state: 'input-required' });
    const metadata = { [STATUS]: 'payment-rejected' };
    const declined = await client.send({ text: 'no', taskId: asked.id, metadata });
    expect(declined).toMatchObject({ id: asked.id, state: 'failed', metadata });
    expect(await client.get(asked.id)).toMatchObject({ state: 'failed' });
    await failure(client.send({ text: 'again', taskId: asked.id }));
  });

  it('is refused with a bad key, and with too little money on the treasury', async () => {
    const bad = await connect(urlOf(echo), bearer('no-key'));
    await failure(bad.send({ text: 'x' }));
    const broke = await newClient(h, '0.01');
    const client = await connect(urlOf(echo), bearer(broke.key));
    const error = await failure(
      client
        .send({ text: 'x' })
        .then((task) => (task.state === 'completed' ? task : Promise.reject(new Error(task.state)))),
    );
    expect(error.message).toMatch(/treasury balance is below the cost/);
  });
});

describe('the card of an agent', () => {
  it('is verified by a stock client with the key of the node, and has an entity tag', async () => {
    const url = `${urlOf(echo)}/.well-known/agent-card.json`;
    const response = await fetch(url);
    // biome-ignore lint/suspicious/noExplicitAny: a card as JSON
    const json = (await response.json()) as any;
    const { keys } = (await h.request('GET', '/.well-known/jwks.json')).body;
    const asked: unknown[] = [];
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      asked.push([kid, jku]);
      return createPublicKey({ key: keys[0], format: 'jwk' });
    });
    // The client tells of each signature that is not good.
    const debug = vi.spyOn(console, 'debug').mockImplementation(() => undefined);
    await verify(json);
    expect(asked).toEqual([[keys[0].kid, `${h.baseUrl}/.well-known/jwks.json`]]);
    await expect(verify({ ...json, name: 'Another' })).rejects.toThrow();
    debug.mockRestore();
    expect(json).toMatchObject({
      name: 'Echo',
      url: urlOf(echo),
      protocolVersion: '0.3.0',
      supportedInterfaces: [
        { protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      skills: [{ id: 'a2a-echo', tags: ['a2a-echo'] }],
    });
    expect(response.headers.get('cache-control')).toContain('max-age');
    const etag = response.headers.get('etag') ?? '';
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await h.request('GET', '/a2a/agt_none/.well-known/agent-card.json')).status).toBe(404);
  });

  it('shows what a typed agent takes and gives, and is verified all the same', async () => {
    const types = {
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string', default: '' }, any: {} },
        required: ['text'],
      },
      outputSchema: { type: 'object', properties: {}, required: [] },
      examples: [{ description: 'Two words', input: { text: 'two words' } }, { input: { text: 'x', any: [] } }],
      capabilities: { shout: { outputSchema: { type: 'string' }, examples: [{ input: { text: 'loud' } }] } },
    };
    const owner = await h.newAccount();
    const typed = await startTestAgent(h, { owner, perRequest: '0.05', capabilities: ['count', 'shout'] });
    const declared = await h.request('PUT', `/agents/${typed.id}`, { key: owner.key, body: { types } });
    expect(declared.status).toBe(200);
    const card = (await h.request('GET', `/a2a/${typed.id}/.well-known/agent-card.json`)).body;
    expect(card.skills).toMatchObject([
      {
        ...{ id: 'count', inputModes: ['application/json'], outputModes: ['application/json'] },
        examples: ['Two words: {"text":"two words"}', '{"text":"x","any":[]}'],
      },
      { id: 'shout', inputModes: ['application/json'], outputModes: ['text/plain'], examples: ['{"text":"loud"}'] },
    ]);
    const ours = card.capabilities.extensions.find(({ uri }: { uri: string }) => uri === 'urn:agent-network:invoke');
    expect(JSON.parse(ours.params.types)).toEqual(types);
    const { keys } = (await h.request('GET', '/.well-known/jwks.json')).body;
    await verifyAgentCardSignature(async () => createPublicKey({ key: keys[0], format: 'jwk' }))(card);

    // A client that names the skill is held to what the skill declares.
    typed.behave(answerWith(200, { result: 'LOUD' }));
    const ask = async (more: object) => {
      const parts = [{ text: 'go' }, { data: { text: 'loud' } }];
      const params = { message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more } };
      const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
      const answer = await h.request('POST', `/a2a/${typed.id}`, {
        ...{ key: buyer.key, body, headers: { 'a2a-version': '1.0' } },
      });
      return answer.body.result.task;
    };
    const metadata = { 'urn:agent-network:invoke': { capability: 'shout' } };
    expect((await ask({ metadata })).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await ask({})).status.message.metadata.code).toBe('result_invalid');
    await typed.die();
  });

  it('shows long examples of an agent once, however many skills it has', async () => {
    const capabilities = Array.from({ length: 50 }, (_, nth) => `skill-${nth}`);
    const own = [{ input: { text: 'short' } }];
    const types = {
      examples: [{ input: { text: 'x'.repeat(60_000) } }],
      capabilities: { 'skill-7': { examples: own } },
    };
    const owner = await h.newAccount();
    const typed = await startTestAgent(h, { owner, perRequest: '0.05', capabilities });
    const declared = await h.request('PUT', `/agents/${typed.id}`, { key: owner.key, body: { types } });
    expect(declared.status).toBe(200);
    const card = (await h.request('GET', `/a2a/${typed.id}/.well-known/agent-card.json`)).body;
    expect(JSON.stringify(card).length).toBeLessThan(250_000);
    const skills: { id: string; examples?: string[] }[] = card.skills;
    expect(skills.flatMap(({ id, examples }) => (examples ? [[id, examples.length]] : []))).toEqual([
      ['skill-0', 1],
      ['skill-7', 1],
    ]);
    await typed.die();
  });

  it("is found by the node's own agent, by detail, and by the registration file", async () => {
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage' };
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Find me an a2a-echo' }] };
    const found = await h.request('POST', '/a2a', {
      body: { ...rpc, params: { message } },
      headers: { 'a2a-version': '1.0' },
    });
    const agentCard = `${urlOf(echo)}/.well-known/agent-card.json`;
    const [, { data }] = found.body.result.message.parts;
    expect(data.agents).toContainEqual(expect.objectContaining({ agentId: echo.id, url: urlOf(echo), agentCard }));
    const detail = (await h.request('GET', `/agents/${echo.id}`)).body.data;
    expect(detail.interfaces).toMatchObject({ a2a: `${urlOf(echo)}/`, agentCard });
    const file = (await h.request('GET', `/agents/${echo.id}/registration.json`)).body;
    expect(file.services).toContainEqual({ name: 'A2A', endpoint: agentCard, version: '1.0' });
    const own = (await h.request('GET', '/.well-known/agent-card.json')).body;
    expect(own).toMatchObject({ url: `${h.baseUrl}/a2a`, skills: [{ id: 'find-agents' }] });
  });

  it("is found by the node's own agent also for a text that is cut off within a character", async () => {
    const message = { messageId: 'm2', role: 'ROLE_USER', parts: [{ text: `a2a-echo ${'x'.repeat(9990)}😀` }] };
    const found = await h.request('POST', '/a2a', {
      body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
      headers: { 'a2a-version': '1.0' },
    });
    const [, { data }] = found.body.result.message.parts;
    expect(data.agents).toContainEqual(expect.objectContaining({ agentId: echo.id }));
  });
});
