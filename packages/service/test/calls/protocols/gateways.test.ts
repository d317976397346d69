import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from '../../http/gateways/mcp/raw-client.ts';
import { contradictions } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { protocols } from './support/protocols.ts';
import { type Listed, listUpstream, type TestUpstream } from './support/upstream.ts';

let h: Harness;
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  client = await newClient(h, '10.00');
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const task = 'Hello';
const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  const answer = await h.request('POST', path, { key: client.key, body, headers });
  expect([answer.status, answer.body]).toEqual([200, answer.body]);
  return answer.body;
};

/** Calls an agent through each gateway; returns the id of the request. */
const gateways: readonly (readonly [gateway: string, call: (agentId: string) => Promise<string>])[] = [
  ['rest', async (id) => (await post(`/invoke/${id}`, { task }, { 'x-sync': 'true' })).data.requestId],
  [
    'x402',
    async (id) => {
      const wallet = await h.newWallet(50_000n);
      const unpaid = await h.request('POST', `/x402/${id}`, { body: { task } });
      const headers = await payV2(h, wallet, unpaid);
      const { body } = await h.request('POST', `/x402/${id}`, { body: { task }, headers });
      expect(body.data).toMatchObject({ status: 'completed', cost: '0.05' });
      return '';
    },
  ],
  [
    'mcp',
    async (id) => {
      const args = { agentId: id, task, maxCost: '0.05', waitSeconds: 20 };
      return (await callTool(h.baseUrl, client.key, 'invoke_agent', args)).body.result.structuredContent.requestId;
    },
  ],
  [
    'openai',
    async (id) =>
      (await post('/v1/chat/completions', { model: id, messages: [{ role: 'user', content: task }] })).agent_network
        .request_id,
  ],
  [
    'a2a',
    async (id) => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: task }] };
      const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
      return (await post(`/a2a/${id}`, rpc, { 'a2a-version': '1.0' })).result.task.id;
    },
  ],
];

describe.each(protocols.filter(({ name }) => name !== 'mcp with a handshake'))('an agent behind $name', ({ start }) => {
  let site: TestUpstream;
  let agent: Listed;
  beforeAll(async () => {
    site = await start();
    agent = await listUpstream(h, site);
  });
  afterAll(() => site.stop());

  it.each(gateways)('is called and paid through the gateway %s', async (_gateway, call) => {
    site.work.length = 0;
    const requestId = await call(agent.id);
    if (requestId !== '')
      expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(site.work).toHaveLength(1);
  });
});
