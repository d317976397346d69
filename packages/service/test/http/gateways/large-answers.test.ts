import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { fixedClock } from '../../support/fixed-clock.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { callTool } from './mcp/raw-client.ts';

const RESULT = { text: 'x'.repeat(900 * 1024) };
/** Two of these results use up the bytes that come back in the first moment. */
const clock = fixedClock(new Date());
let h: Harness;
let agent: TestAgent;
const answers: ServerResponse[] = [];
beforeAll(async () => {
  h = await startHarness({ clock, env: { ANSWER_BYTES_PER_MINUTE: '12000000' } });
  agent = await startTestAgent(h, { perRequest: '0', behaviour: (_request, response) => void answers.push(response) });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

beforeEach(() => {
  answers.length = 0;
  // All tests read from one address: what it has used up is given back.
  clock.advance(120_000);
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

const a2a = async (key: string, method: string, params: object): Promise<Any> => {
  const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
  return (
    await h.request('POST', `/a2a/${agent.id}`, { key, headers, body: { jsonrpc: '2.0', id: 1, method, params } })
  ).body;
};
const finish = async () => {
  const asked = async () => answers.shift() ?? null;
  const response = await until(asked);
  response?.end(JSON.stringify({ result: RESULT }));
};
const message = (messageId: string = randomUUID(), returnImmediately = true) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text: 'go' }] },
  configuration: { returnImmediately },
});
const start = async (key: string, messageId?: string): Promise<string> =>
  (await a2a(key, 'SendMessage', message(messageId))).result.task.id;
const untilEnded = async (requestId: string) => {
  const ended = async () => {
    const [row] = await h.ctx.db.query(
      'test-ended',
      "select id from invocation where id = $1 and status = 'completed'",
      [requestId],
    );
    return row ?? null;
  };
  await until(ended);
};
const length = (answer: unknown) => JSON.stringify(answer).length;
const refusal = -30_429;

it('tasks listed with their artifacts are refused before they are read when the bytes of a minute are used up', async () => {
  const { key } = await h.newAccount();
  const id = await start(key);
  await finish();
  await untilEnded(id);
  const list = () => a2a(key, 'ListTasks', { includeArtifacts: true });
  expect(length(await list())).toBeGreaterThan(RESULT.text.length);
  const query = vi.spyOn(h.ctx.db, 'query');
  const refused = await list();
  expect(refused.error?.code).toBe(refusal);
  expect(query.mock.calls.map(([name]) => name)).not.toContain('find-records-within');
  query.mockRestore();
  expect((await a2a(key, 'ListTasks', {})).result.tasks).toHaveLength(1);
});

/** An account that has read a large result once: reading another one uses its bytes up. */
async function readerOfOne() {
  const { key } = await h.newAccount();
  const id = await start(key);
  await finish();
  await untilEnded(id);
  const readFirst = () => a2a(key, 'GetTask', { id });
  expect(length(await readFirst())).toBeGreaterThan(RESULT.text.length);
  return { key, readFirst };
}

type Read = (key: string, requestId: string, messageId: string) => Promise<unknown>;

it.each<[string, 'ending' | 'watch', Read]>([
  [
    'an MCP tool that waits for it',
    'ending',
    async (key, requestId) => (await callTool(h.baseUrl, key, 'get_invocation', { requestId, waitSeconds: 50 })).body,
  ],
  ['a subscription to a task', 'watch', (key, id) => a2a(key, 'SubscribeToTask', { id })],
  ['a repeated message that waits for it', 'ending', (key, _, id) => a2a(key, 'SendMessage', message(id, false))],
  ['a repeated message that streams it', 'watch', (key, _, id) => a2a(key, 'SendStreamingMessage', message(id))],
])('a result that is read by %s counts among the large answers of a minute', async (_way, waitsBy, read) => {
  const { key, readFirst } = await readerOfOne();
  const messageId = randomUUID();
  const second = await start(key, messageId);
  const spies = { ending: vi.spyOn(h.ctx.runner, 'ending'), watch: vi.spyOn(h.ctx.changeHub, 'watch') };
  const reading = read(key, second, messageId);
  await expect.poll(() => spies[waitsBy].mock.calls.map(([id]) => id)).toContain(second);
  for (const spy of Object.values(spies)) spy.mockRestore();
  await finish();
  expect(length(await reading)).toBeGreaterThan(RESULT.text.length);
  expect((await readFirst()).error?.code).toBe(refusal);
});

it('a result that a repeated completion streams counts among the large answers of a minute; one that is bought does not', async () => {
  const { key, readFirst } = await readerOfOne();
  const body = { model: agent.id, messages: [{ role: 'user', content: 'go' }], stream: true };
  const watch = vi.spyOn(h.ctx.changeHub, 'watch');
  const streams = (most: number) => expect.poll(() => watch.mock.calls.length).toBeGreaterThanOrEqual(most);
  const complete = (order: string) => {
    const headers = { 'idempotency-key': order, 'content-type': 'application/json' };
    return h.request('POST', '/v1/chat/completions', { key, headers, body });
  };
  const completed = async (...answers: Promise<{ body: unknown }>[]) => {
    await finish();
    for (const { body } of await Promise.all(answers)) expect(length(body)).toBeGreaterThan(RESULT.text.length);
  };
  const bought = complete('order-1');
  await streams(1);
  await completed(bought);
  expect((await readFirst()).error).toBeUndefined();
  watch.mockClear();
  clock.advance(120_000);
  const first = complete('order-2');
  await streams(1);
  const repeated = complete('order-2');
  await streams(2);
  await completed(first, repeated);
  watch.mockRestore();
  expect((await readFirst()).error?.code).toBe(refusal);
  // Then a repetition is refused, as other reading is.
  expect((await complete('order-2')).status).toBe(429);
});

it('a stream of a call that is repeated counts as well, and is refused when too much was read', async () => {
  const { key, readFirst } = await readerOfOne();
  const invoke = () =>
    h.request('POST', `/invoke/${agent.id}`, {
      key,
      headers: { 'idempotency-key': 'streamed', accept: 'text/event-stream' },
      body: { task: 'go', stream: true },
    });
  const bought = invoke();
  await finish();
  expect(length((await bought).body)).toBeGreaterThan(RESULT.text.length);
  expect((await readFirst()).error).toBeUndefined();
  clock.advance(120_000);
  await readFirst();
  expect(length((await invoke()).body)).toBeGreaterThan(RESULT.text.length);
  expect((await invoke()).status).toBe(429);
});

it('repeating a streamed completion after a lost answer buys nothing, no matter how much was read', async () => {
  const { key } = await readerOfOne();
  const watch = vi.spyOn(h.ctx.changeHub, 'watch');
  const body = JSON.stringify({ model: agent.id, messages: [{ role: 'user', content: 'lost' }], stream: true });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const complete = (signal?: AbortSignal) =>
    fetch(`${h.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body, ...(signal ? { signal } : {}) });
  const hangUp = new AbortController();
  const lost = complete(hangUp.signal).then((answer) => answer.text());
  lost.catch(() => undefined);
  await expect.poll(() => watch.mock.calls.length).toBeGreaterThan(0);
  const [requestId = ''] = watch.mock.calls.map(([id]) => id);
  watch.mockRestore();
  hangUp.abort();
  await expect(lost).rejects.toThrow();
  await finish();
  await untilEnded(requestId);
  // What is left admits the record of the request; with it, it is used up.
  const repeated = await complete();
  expect([repeated.status, length(await repeated.text()) > RESULT.text.length]).toEqual([200, true]);
  expect(answers).toEqual([]);
});
