import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../src/invocations/audit/audit-money.ts';
import { settleBills } from '../../src/invocations/finish/settle-bills.ts';
import { until } from '../../src/lib/concurrency/until.ts';
import { contradictions, walletByBooks } from '../support/books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type Client, newClient, untilUsdc } from '../support/treasury.ts';
import { startA2aUpstream } from './support/a2a-upstream.ts';
import { startA2a03Upstream } from './support/a2a-upstream-03.ts';
import { startMcpUpstream } from './support/mcp-upstream.ts';
import { createTerms } from './support/terms.ts';
import { type Listed, listUpstream, type Mode, type TestUpstream } from './support/upstream.ts';

// What protocols.ts has no row for: the older version of a protocol, and the further ways to say the same in one.

const sync = { 'x-sync': 'true' };
let h: Harness;
let client: Client;
beforeAll(async () => {
  h = await startHarness();
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
    site.work.length = 0;
    const { data } = (await call(agent, {})).body;
    const began = await until(async () => (site.work.length > 0 ? true : null), {
      timeoutMs: 8000,
      firstMs: 2,
      mostMs: 20,
    });
    expect(began).toBe(true);
    const cancelled = await h.request('POST', `/invoke/${data.requestId}/cancel`, { key: client.key });
    expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
    const heard = await until(async () => (site.isCancelled() ? true : null), {
      timeoutMs: 8000,
      firstMs: 5,
      mostMs: 50,
    });
    expect(heard).toBe(true);
    site.mode = { kind: 'works' };
  });
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
