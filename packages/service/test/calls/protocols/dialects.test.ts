import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openMcp } from '../../../src/agents/health/mcp-client.ts';
import type { Upstream } from '../../../src/agents/health/upstream.ts';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { settleBills } from '../../../src/calls/finish/settle-bills.ts';
import type { AgentCall, CallContext } from '../../../src/calls/protocols/adapter.ts';
import { mcpAdapter } from '../../../src/calls/protocols/mcp/mcp-call-client.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { type Client, newClient, untilEnded, untilUsdc } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { startA2aUpstream } from './support/a2a-upstream.ts';
import { startA2a03Upstream } from './support/a2a-upstream-03.ts';
import { startMcpUpstream } from './support/mcp-upstream.ts';
import { startMipUpstream } from './support/mip-upstream.ts';
import { createTerms } from './support/terms.ts';
import { json, type Listed, listUpstream, type Mode, startUpstream, type TestUpstream } from './support/upstream.ts';

// What protocols.ts has no row for: the older version of a protocol, and the further ways to say the same in one.

const sync = { 'x-sync': 'true' };
let h: Harness;
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  client = await newClient(h, '10.00');
});
afterEach(async () => {
  await h.ctx.settler.idle();
  await settleBills(h.ctx);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await findMoneyContradictions(h.ctx)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
});
afterAll(() => h.stop());

const call = (agent: Listed, headers: Record<string, string> = sync, more: object = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'Hello', ...more }, headers });

const cancel = (requestId: string) => h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });

/** Before the node has the id of the task, it has nothing that it could cancel. */
async function untilNoted(requestId: string) {
  await until(() => isNoted(requestId));
}
const isNoted = async (requestId: string) => {
  const noted = 'select from upstream_call where request_id = $1 and handle is not null';
  return (await askDatabase(h.databaseUrl, noted, [requestId])).length > 0;
};
async function isNotedInTime(requestId: string): Promise<boolean> {
  const ended = `select from invocation where id = $1 and status in ('completed', 'failed', 'cancelled')`;
  const hasEnded = async () => (await askDatabase(h.databaseUrl, ended, [requestId])).length > 0;
  await until(async () => (await isNoted(requestId)) || (await hasEnded()));
  return isNoted(requestId);
}

describe('an agent of A2A 0.3', () => {
  let site: TestUpstream;
  let agent: Listed;
  beforeAll(async () => {
    site = await startA2a03Upstream();
    agent = await listUpstream(h, site);
  });
  afterAll(() => site.stop());

  it('does its work, in messages of its version, and is paid', async () => {
    site.mode = { kind: 'works' };
    const { data } = (await call(agent)).body;
    expect(data).toMatchObject({ status: 'completed', result: { text: 'Hello!' }, cost: '0.05' });
    expect(site.work.map(({ body }) => body.method)).toEqual(['message/send']);
  });

  it('streams', async () => {
    site.mode = { kind: 'works' };
    const { body } = await call(agent, { accept: 'text/event-stream' }, { stream: true });
    expect(body).toContain('{"chunk":"Hello!"');
    expect(body).toContain('event: invocation.completed');
  });

  it('hears of a cancellation', async () => {
    site.mode = { kind: 'pends' };
    const { data } = (await call(agent, {})).body;
    await untilNoted(data.requestId);
    const cancelled = await cancel(data.requestId);
    expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
    await until(async () => site.isCancelled());
    site.mode = { kind: 'works' };
  });
});

it.each<[string, (requestId: string) => Promise<unknown>]>([
  ['is cancelled', cancel],
  ['runs out of time', (requestId) => untilEnded(h, client.key, requestId)],
])('a task of A2A is cancelled when its call %s while its agent answers with 503', async (_how, end) => {
  const site = await startA2aUpstream();
  const agent = await listUpstream(h, site);
  site.mode = { kind: 'pends' };
  const isAsked = () => site.seen.some(({ body }) => body?.method === 'GetTask');
  const requestId = await beforeDeadline(3000, async (deadline) => {
    site.down = null;
    const { data } = (await call(agent, {}, { deadline })).body;
    if (!data || !(await isNotedInTime(data.requestId))) return null;
    site.down = 503;
    site.seen.length = 0;
    await until(async () => isAsked() || Date.now() > Date.parse(deadline));
    return isAsked() ? data.requestId : null;
  });
  await end(requestId);
  await expect.poll(() => site.isCancelled()).toBe(true);
  site.mode = { kind: 'works' };
  await site.stop();
});

describe.each<[string, () => Promise<TestUpstream>, Omit<Mode & { kind: 'bills' }, 'kind' | 'terms'>, 1 | 2]>([
  ['A2A 0.3: the metadata of a task, x402 version 2', startA2a03Upstream, {}, 2],
  ['A2A 0.3: the metadata of a task, x402 version 1', startA2a03Upstream, {}, 1],
  ['A2A 1.0: the metadata of a task, x402 version 1', startA2aUpstream, {}, 1],
  ['MCP: data of a failed tool, x402 version 1', startMcpUpstream, { as: 'data' }, 1],
  ['MCP: only the text of a failed tool', startMcpUpstream, { as: 'text' }, 2],
  ['MCP: a JSON-RPC error 402', startMcpUpstream, { as: 'error' }, 2],
  ['MCP: a JSON-RPC error 402, x402 version 1', startMcpUpstream, { as: 'error' }, 1],
])('terms in %s', (_name, start, how, version) => {
  it('are paid from the hold, once, and the work is done', async () => {
    const site = await start();
    const agent = await listUpstream(h, site);
    const terms = createTerms(h, 30_000n, version);
    site.mode = { kind: 'bills', terms, ...how };
    const record: RequestRecord = (await call(agent)).body.data;
    expect(record).toMatchObject({ status: 'completed', cost: '0.03', refund: '0.02' });
    expect(JSON.stringify(record.result)).toContain('Hello!');
    expect(await untilUsdc(h, terms.payTo, 30_000n)).toBe(30_000n);
    await site.stop();
  });
});

describe.each<[string, () => Promise<TestUpstream>]>([
  ['A2A 1.0', startA2aUpstream],
  ['MCP', () => startMcpUpstream()],
])('an agent of %s that demands its payment in the middle of a stream', (_name, start) => {
  it('is paid, and the stream continues after the earlier chunks', async () => {
    const site = await start();
    const agent = await listUpstream(h, site);
    const terms = createTerms(h, 30_000n);
    site.mode = { kind: 'bills', terms, isBegun: true };
    const { body } = await call(agent, { accept: 'text/event-stream' }, { stream: true });
    expect(String(body).match(/begun|paid|event: invocation\.(completed|failed)/g)).toEqual([
      ...['begun', 'paid', 'event: invocation.completed'],
    ]);
    expect(body).toContain('"cost":"0.03"');
    expect(await untilUsdc(h, terms.payTo, 30_000n)).toBe(30_000n);
    await site.stop();
  });
});

/**
 * A server of MCP that keeps a session for each of its clients. `open`: those that nobody has ended. `told`: for each cancellation, whether
 * its session was open until the answer.
 */
async function startSessions(result: object, breaksOff = false) {
  const open = new Set<string>();
  const told: boolean[] = [];
  let count = 0;
  const site = await startUpstream(() => ({
    protocol: 'mcp',
    path: '/mcp',
    isWork: ({ body }) => body?.method === 'tools/call',
    async answer({ method, headers, body }, _request, response) {
      const say = (said: object, more: Record<string, string> = {}) =>
        json(response, 200, { jsonrpc: '2.0', id: body?.id, result: said }, more);
      if (method === 'DELETE') {
        open.delete(String(headers['mcp-session-id']));
        return json(response, 200, {});
      }
      if (body?.method === 'notifications/cancelled') {
        await sleep(300);
        told.push(open.has(String(headers['mcp-session-id'])));
        return json(response, 200, {});
      }
      if (body?.method === 'tools/list') return say({ tools: [{ name: 'shout', inputSchema: { type: 'object' } }] });
      if (body?.method === 'tools/call') return say(result);
      if (body?.method === 'notifications/initialized' && breaksOff) return void response.destroy();
      if (body?.method !== 'initialize') return json(response, 400, {});
      count += 1;
      open.add(`session-${count}`);
      return say({ protocolVersion: '2025-06-18', capabilities: {} }, { 'mcp-session-id': `session-${count}` });
    },
  }));
  return { site, open, told, opened: () => count };
}

it.each<[string, object]>([
  ['completed', { content: [{ type: 'text', text: 'Hello!' }] }],
  ['failed', { isError: true, content: [{ type: 'text', text: 'no' }] }],
])('a server of MCP has no session left after a call that %s', async (status, result) => {
  const { site, open } = await startSessions(result);
  const agent = await listUpstream(h, site);
  expect((await call(agent)).body.data.status).toBe(status);
  await expect.poll(() => open.size).toBe(0);
  await site.stop();
});

it('a server of MCP has no session left after a bill that is not paid', async () => {
  const { required } = createTerms(h, 50_001n);
  const text = JSON.stringify(required);
  const bill = { isError: true, structuredContent: required, content: [{ type: 'text', text }] };
  const { site, open } = await startSessions(bill);
  const agent = await listUpstream(h, site);
  expect((await call(agent)).body.data).toMatchObject({ status: 'failed', error: { code: 'bill_too_high' } });
  await expect.poll(() => open.size).toBe(0);
  await site.stop();
});

it('a server of MCP has no session left when it breaks off in the handshake', async () => {
  const { site, open, opened } = await startSessions({}, true);
  const upstream = { endpoint: site.endpoint, headers: {}, tool: null } as unknown as Upstream;
  await expect(openMcp({ guardedFetch: h.ctx.guardedFetch }, upstream)).rejects.toThrow();
  await expect.poll(() => [opened(), open.size]).toEqual([1, 0]);
  await site.stop();
});

it('a server of MCP has no session left when the chunks of an earlier attempt cannot be read', async () => {
  const { site, open } = await startSessions({});
  const { guardedFetch } = h.ctx;
  const ctx = { guardedFetch, db: { query: () => Promise.reject(new Error('away')) } } as unknown as CallContext;
  const again = {
    target: { endpoint: site.endpoint, headers: {}, tool: null },
    invocation: { id: 'request', isStreamed: true, attempt: 2 },
    answers: [],
    signal: new AbortController().signal,
  } as unknown as AgentCall;
  await expect(mcpAdapter.prepare(ctx, again)).rejects.toThrow('away');
  await expect.poll(() => open.size).toBe(0);
  await site.stop();
});

it('a server of MCP has answered that a call is cancelled before the session of the call ends', async () => {
  const { site, open, told } = await startSessions({});
  const agent = await listUpstream(h, site);
  site.mode = { kind: 'hangs' };
  const { requestId } = (await call(agent, {})).body.data;
  await expect.poll(() => site.work.length).toBe(1);
  await cancel(requestId);
  await expect.poll(() => told).toEqual([true]);
  await expect.poll(() => open.size).toBe(0);
  await site.stop();
});

/** JSON of an object that no text can be made of. */
const TEXTLESS = '{"toString":1,"valueOf":1}';
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const task = (id: string) =>
  `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":${id},"status":{"state":"TASK_STATE_WORKING"}}}}`;

describe('an endpoint that answers to break its call', () => {
  it.each<[string, () => Promise<TestUpstream>, string]>([
    ['an id of a job with a null character', startMipUpstream, '{"status":"success","job_id":"a\\u0000b"}'],
    ['an id of a job with half a character', startMipUpstream, '{"status":"success","job_id":"a\\ud800b"}'],
    ['a long id of a job', startMipUpstream, `{"status":"success","job_id":"${'x'.repeat(501)}"}`],
    ['an id of a task with a null character', startA2aUpstream, task('"a\\u0000b"')],
    ['an id of a task that is no text', startA2aUpstream, task(TEXTLESS)],
    [
      'endless terms of payment',
      () => startMcpUpstream(),
      `{"jsonrpc":"2.0","id":"ID","result":{"isError":true,"structuredContent":{"accepts":${nested(100_000)}}}}`,
    ],
  ])('%s: the call fails at once, and the money is back', async (_what, start, text) => {
    const site = await start();
    const agent = await listUpstream(h, site);
    const id = { request: '' };
    site.mode = {
      kind: 'says',
      status: 200,
      get text() {
        id.request = site.work.at(-1)?.body.id ?? '';
        return text.replace('"ID"', JSON.stringify(id.request));
      },
    };
    const { status, body } = await call(agent);
    expect([status, body.data]).toMatchObject([200, { status: 'failed', cost: '0.00', refund: '0.05' }]);
    expect(site.work).toHaveLength(1);
    await site.stop();
  });

  it.each([
    [
      'fields of a type that is no text',
      '/masumi/input_schema',
      `{"input_data":[{"id":"a","type":${TEXTLESS}},{"id":"b","type":"string"}]}`,
    ],
    [
      'fields whose option is no text',
      '/masumi/input_schema',
      `{"input_data":[{"id":"b","type":"string","validations":[{"validation":"optional","value":${TEXTLESS}}]}]}`,
    ],
  ])('%s: the call is made all the same', async (_what, path, text) => {
    const site = await startMipUpstream();
    const agent = await listUpstream(h, site);
    site.odd.set(path, { status: 200, text });
    expect((await call(agent)).body.data.status).toMatch(/^(completed|failed)$/);
    expect(site.work).toHaveLength(1);
    await site.stop();
  });
});
