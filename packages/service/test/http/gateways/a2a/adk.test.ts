import { randomUUID } from 'node:crypto';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from 'a2a-sdk-v03/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import type { TestAgent } from '../../../support/test-agent.ts';
import { type StockSite, startStockSite } from '../stock-site.ts';
import { type Any, envelope, message, v1 } from './raw-client.ts';

// The exchange that Google's ADK (@google/adk 2.0, RemoteA2AAgent) makes with @a2a-js/sdk 0.3: the card by the address of the agent, one
// message that streams, with metadata of its session and no configuration. The package itself brings databases and clouds along.

let site: StockSite;
let h: Harness;
beforeAll(async () => {
  site = await startStockSite(await borrowHarness(), { name: 'Echo', capabilities: ['a2a-echo'] });
  h = site.h;
});
afterAll(async () => site?.stop());

const headersOf = () => ({ authorization: `Bearer ${site.buyer.key}` });
const fetchImpl: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headersOf() } });

async function connect(agent: TestAgent) {
  const { a2a } = (await h.request('GET', `/agents/${agent.id}`)).body.data.interfaces;
  const card = await new DefaultAgentCardResolver().resolve(a2a);
  return new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] }).createFromAgentCard(card);
}

const adkMessage = (text: string, more: object = {}): Any => ({
  message: {
    ...{ kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
    metadata: { adk_app_name: 'app', adk_user_id: 'user', adk_session_id: 'session' },
    ...more,
  },
});

/** Text of an answer as the ADK puts it together: artifacts by their id, `append` and `lastChunk`. */
async function textsOf(events: AsyncIterable<Any>) {
  const texts = new Map<string, string>();
  let state = '';
  for await (const event of events) {
    if (event.kind === 'status-update' && event.final) state = event.status.state;
    if (event.kind !== 'artifact-update') continue;
    const said = event.artifact.parts.map(({ text = '' }: Any) => text).join('');
    texts.set(event.artifact.artifactId, (event.append ? (texts.get(event.artifact.artifactId) ?? '') : '') + said);
  }
  return { state, ...Object.fromEntries(texts) };
}

describe('a client as the ADK makes it', () => {
  it('finds the card by the address of the agent, and gets a streamed answer as one text', async () => {
    const client = await connect(site.streaming);
    const answer = await textsOf(client.sendMessageStream(adkMessage('go')));
    expect(answer).toMatchObject({ state: 'completed', stream: 'one two' });
  });

  it('reads why a stream did not begin', async () => {
    const client = await connect(site.working);
    const more = { taskId: 'req_00000000000000000000000000' };
    await expect(textsOf(client.sendMessageStream(adkMessage('go', more)))).rejects.toThrow(/Task not found/);
  });

  it('gets a result without a text as text, when it takes nothing else, also when it reads it later', async () => {
    const client = await connect(site.working);
    const textOf = (task: Any) => task.artifacts[0].parts.find(({ kind }: Any) => kind === 'text')?.text;
    const sent: Any = await client.sendMessage({
      ...adkMessage('hello'),
      configuration: { blocking: true, acceptedOutputModes: ['text', 'image/png'] },
    });
    expect(JSON.parse(textOf(sent))).toMatchObject({ echo: 'hello' });
    expect(await client.getTask({ id: sent.id })).toMatchObject({ artifacts: sent.artifacts });
    const plain: Any = await client.sendMessage({
      ...adkMessage('hello'),
      configuration: { blocking: true, acceptedOutputModes: ['text', 'application/json'] },
    });
    expect(textOf(plain)).toBeUndefined();
  });
});

it.each([
  ['SendStreamingMessage', v1],
  ['message/stream', { 'content-type': 'application/json' }],
  ['SubscribeToTask', v1],
  ['tasks/resubscribe', { 'content-type': 'application/json' }],
])('an error before a stream begins is an event of the stream, or a status: %s', async (method, headers) => {
  const params = { ...message({ taskId: 'none' }), message: message({ taskId: 'none' }), id: 'none' };
  const ask = (key: string) =>
    h.request('POST', `/a2a/${site.working.id}/`, { key, headers, body: envelope(method, params, 7) });
  const told = await ask(site.buyer.key);
  expect([told.status, told.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const events = String(told.body)
    .split('\n')
    .filter((line) => line.startsWith('data: '));
  expect(events).toHaveLength(1);
  expect(JSON.parse(events[0]?.slice(6) ?? '')).toMatchObject({
    jsonrpc: '2.0',
    id: 7,
    error: { code: expect.any(Number) },
  });
  const refused = await ask('no-key');
  expect([refused.status, refused.body.error.code]).toEqual([401, -30_401]);
});

it('the address of an agent takes calls with a slash at its end and without', async () => {
  const { a2a } = (await h.request('GET', `/agents/${site.working.id}`)).body.data.interfaces;
  expect(a2a).toBe(`${h.baseUrl}/a2a/${site.working.id}/`);
  for (const at of [a2a, a2a.slice(0, -1)]) {
    const body = JSON.stringify(envelope('ListTasks', {}));
    const answer = await fetchImpl(at, { method: 'POST', headers: v1, body });
    expect(await answer.json()).toHaveProperty('result.tasks');
    for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json'])
      expect((await fetch(at + path)).status).toBe(200);
  }
});
