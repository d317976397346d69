import { afterAll, beforeAll, expect, it } from 'vitest';
import { contradictions } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../support/treasury.ts';
import { callTool } from './mcp/raw-client.ts';

// Many calls at the same moment, through every gateway: each caller gets its own answer, and one name is one purchase.

let h: Harness;
let agent: TestAgent;
let ann: Client;
let bob: Client;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
  [ann, bob] = await Promise.all([newClient(h, '3'), newClient(h, '3')]);
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const invoke = (key: string, task: string, more: object = {}) =>
  callTool(h.baseUrl, key, 'invoke_agent', { agentId: agent.id, task, maxCost: '0.05', ...more });

it('callers whose messages have the same id get their own answers', async () => {
  const tasks = Array.from({ length: 20 }, (_, nth) =>
    [ann, bob].map(({ key }, who) => ({ key, task: `${who}-${nth}` })),
  ).flat();
  const answers = await Promise.all(tasks.map(({ key, task }) => invoke(key, task)));
  expect(answers.map(({ body }) => [body.id, body.result.structuredContent.result])).toEqual(
    tasks.map(({ task }) => [7, { echo: task, input: {} }]),
  );
  for (const [nth, { body }] of answers.entries()) {
    const other = tasks[nth]?.key === ann.key ? bob : ann;
    const { requestId } = body.result.structuredContent;
    const read = await callTool(h.baseUrl, other.key, 'get_invocation', { requestId });
    expect(read.body.result.structuredContent.error.code).toBe('NOT_FOUND');
  }
});

it('one name through MCP and REST at once is one purchase', async () => {
  agent.calls.length = 0;
  const before = await balanceOf(h, ann.key);
  const name = 'the-same-purchase';
  const byMcp = () => invoke(ann.key, 'once', { idempotencyKey: name });
  const byRest = () =>
    h.request('POST', `/invoke/${agent.id}`, {
      key: ann.key,
      body: { task: 'once', maxCost: '0.05' },
      headers: { 'idempotency-key': name, 'x-sync': 'true' },
    });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, nth) => (nth % 2 ? byRest() : byMcp())));
  // Who comes while it runs is told so, and finds it afterwards.
  const said = answers.map(({ body }) => body.result?.structuredContent ?? body.data ?? body);
  const done = said.filter(({ requestId }) => requestId !== undefined);
  expect(said.filter((each) => !done.includes(each)).every(({ error }) => error.code === 'CONFLICT')).toBe(true);
  const after = [(await byMcp()).body.result.structuredContent, (await byRest()).body.data];
  expect(new Set([...done, ...after].map(({ requestId }) => requestId)).size).toBe(1);
  expect(agent.calls).toHaveLength(1);
  expect(Number(before.available) - Number((await balanceOf(h, ann.key)).available)).toBeCloseTo(0.05);
});

it('one message of A2A sent twenty times at once is one task', async () => {
  agent.calls.length = 0;
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message: { messageId: 'the-same-message', role: 'ROLE_USER', parts: [{ text: 'once' }] } },
  };
  const headers = { 'a2a-version': '1.0' };
  const send = () => h.request('POST', `/a2a/${agent.id}`, { key: bob.key, body, headers });
  const answers = await Promise.all(Array.from({ length: 20 }, send));
  const told = answers.filter(({ body }) => body.error);
  expect(told.every(({ body }) => body.error.code === -30409)).toBe(true);
  const done = [...answers.filter(({ body }) => body.result), await send()];
  const seen = done.map(({ body }) => [body.result.task.status.state, body.result.task.id].join());
  expect([...new Set(seen)]).toEqual([expect.stringMatching(/^TASK_STATE_COMPLETED,req_/)]);
  expect(agent.calls).toHaveLength(1);
});
