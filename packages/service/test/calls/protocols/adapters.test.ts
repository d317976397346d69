import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { settleBills } from '../../../src/calls/finish/settle-bills.ts';
import { recoverInvocations } from '../../../src/calls/run/recover-invocations.ts';
import { DatabaseAwayError } from '../../../src/store/database-away.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { balanceOf, type Client, newClient, untilEnded, untilUsdc } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { startMcpUpstream } from './support/mcp-upstream.ts';
import { startMipUpstream } from './support/mip-upstream.ts';
import { startOpenaiUpstream } from './support/openai-upstream.ts';
import { protocols } from './support/protocols.ts';
import { createTerms } from './support/terms.ts';
import { type Listed, listUpstream, type TestUpstream } from './support/upstream.ts';

const sync = { 'x-sync': 'true' };
const SECRET = 'sk-upstream-secret-0123456789';

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

describe.each(protocols)('an agent behind $name', ({ start, task, input, result, streamed, cancels, resumes }) => {
  let site: TestUpstream;
  let agent: Listed;
  let before: string;
  beforeAll(async () => {
    site = await start();
    agent = await listUpstream(h, site, { headers: { Authorization: `Bearer ${SECRET}` } });
  });
  afterAll(() => site.stop());

  const invoke = async (headers: Record<string, string> = sync, more: Record<string, unknown> = {}) => {
    before = (await balanceOf(h, client.key)).available;
    site.work.length = 0;
    const body = { task, input, ...more };
    return (await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers })).body
      .data as RequestRecord;
  };
  const spent = async () => Number((Number(before) - Number((await balanceOf(h, client.key)).available)).toFixed(6));
  const untilWork = () => until(async () => site.work.length > 0);

  const untilNoted = async (requestId: string) => {
    const noted = 'select from upstream_call where request_id = $1 and handle is not null';
    const isNoted = async () => (await askDatabase(h.databaseUrl, noted, [requestId])).length > 0;
    await until(isNoted);
  };

  /** The id of a request whose work the upstream has taken and not done. */
  const takenRequest = async (): Promise<string> => {
    site.mode = { kind: 'pends' };
    const { requestId } = await invoke({});
    await untilWork();
    await untilNoted(requestId);
    return requestId;
  };

  /** The upstream answers with this status until it has done so several times. */
  const turnAway = async (status: number, times: number) => {
    const end = site.turnedAway + times;
    site.down = status;
    const isTold = async () => site.turnedAway >= end;
    await until(isTold);
    site.down = null;
  };

  /** The writes of this process are void from now on, as those of a dead one, and it has let go of the call. */
  const untilTakenAway = async (requestId: string) => {
    const takeAway = 'update invocation set attempt = attempt + 1, worker = gen_random_uuid() where id = $1';
    await askDatabase(h.databaseUrl, takeAway, [requestId]);
    site.mode = { kind: 'works' };
    site.letGo();
    const isLetGo = async () => (h.ctx.runner.trackedIds().includes(requestId) ? null : true);
    await until(isLetGo);
  };

  it('shows its protocol to everybody, and how it is called to its owner without secrets', async () => {
    const shown = await h.request('GET', `/agents/${agent.id}`);
    expect(shown.body.data).toMatchObject({ protocol: site.protocol, status: 'online' });
    expect(JSON.stringify(shown.body)).not.toContain('Authorization');
    const own = await h.request('GET', `/account/agents?agentId=${agent.id}`, { key: agent.owner.key });
    expect(own.body.data.agents[0]).toMatchObject({
      protocol: site.protocol,
      fault: null,
      upstream: { headers: { Authorization: '***' } },
    });
    expect(JSON.stringify(own.body)).not.toContain(SECRET);
  });

  it('does its work for a caller who waits, with the headers of its owner, and is paid', async () => {
    site.mode = { kind: 'works' };
    const record = await invoke();
    expect(record).toMatchObject({ status: 'completed', result, cost: '0.05' });
    expect(await spent()).toBe(0.05);
    expect(site.work).toHaveLength(1);
    expect(site.work[0]?.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'idempotency-key': record.requestId,
      'x-request-id': record.requestId,
    });
  });

  it('does its work for a caller who does not wait', async () => {
    site.mode = { kind: 'works' };
    const { requestId } = await invoke({});
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', result, cost: '0.05' });
  });

  it('streams', async () => {
    site.mode = { kind: 'works' };
    before = (await balanceOf(h, client.key)).available;
    const { body } = await h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task, input, stream: true },
      headers: { accept: 'text/event-stream' },
    });
    for (const part of streamed) expect(body).toContain(part);
    expect(body).toContain('event: invocation.completed');
    expect(await spent()).toBe(0.05);
  });

  it('hears of a cancellation, and the money is back', async () => {
    site.mode = { kind: cancels ?? 'pends' };
    const { requestId } = await invoke({});
    await untilWork();
    // Before the node has the id of the work, it has nothing that it could cancel.
    if (resumes) await untilNoted(requestId);
    const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
    if (cancels === null) await sleep(100);
    else await until(async () => site.isCancelled());
    expect(site.isCancelled()).toBe(cancels !== null);
    expect(await spent()).toBe(0);
  });

  it('runs out of time, and the money is back', async () => {
    site.mode = { kind: 'hangs' };
    const record = await beforeDeadline(700, async (deadline) => {
      const data = await invoke(sync, { deadline });
      return site.work.length === 0 ? null : data;
    });
    expect(record).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'deadline_exceeded' } });
    expect(await spent()).toBe(0);
    expect(site.work).toHaveLength(1);
  });

  it.each([
    ['text that is not JSON', 200, 'hello', 'invalid_response'],
    ['JSON of no meaning', 200, '{"a":1}', 'invalid_response'],
    ['a list', 200, '[]', 'invalid_response'],
    ['more than a megabyte', 200, `"${'x'.repeat(1_100_000)}"`, 'response_too_large'],
    ['a server error', 503, '{}', 'agent_error'],
    ['a refusal that repeats the credentials', 401, `{"error":{"message":"bad key ${SECRET}"}}`, 'agent_error'],
    ['terms that nobody can read', 402, '{}', 'bill_not_payable'],
  ])('answers with %s: the call fails once, and the money is back', async (_name, status, text, code) => {
    site.mode = { kind: 'says', status, text };
    const record = await invoke();
    expect(record).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05', error: { code } });
    expect(JSON.stringify(record)).not.toContain(SECRET);
    expect(await spent()).toBe(0);
    expect(site.work).toHaveLength(1);
  });

  it('redirects: nothing follows, no header reaches the other origin', async () => {
    const thief = await start();
    site.mode = { kind: 'says', status: 307, text: '', headers: { location: thief.endpoint } };
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'agent_redirected' } });
    expect(thief.seen).toEqual([]);
    expect(await spent()).toBe(0);
    await thief.stop();
  });

  it('fails in its own way: the call fails, and the money is back', async () => {
    site.mode = { kind: 'fails' };
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'agent_error' } });
    expect(await spent()).toBe(0);
  });

  it.runIf(resumes)('asks for more input, which a call does not have: it fails, and the money is back', async () => {
    site.mode = { kind: 'needs input' };
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'agent_needs_input' } });
    expect(await spent()).toBe(0);
  });

  it('demands a payment and gets it from the hold, once', async () => {
    const terms = createTerms(h, 30_000n);
    site.mode = { kind: 'bills', terms };
    const record = await invoke();
    expect(record).toMatchObject({ status: 'completed', result, cost: '0.03', refund: '0.02' });
    expect(await spent()).toBe(0.03);
    expect(await untilUsdc(h, terms.payTo, 30_000n)).toBe(30_000n);
  });

  it('demands more than the price, and gets nothing', async () => {
    const terms = createTerms(h, 50_001n);
    site.mode = { kind: 'bills', terms };
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'bill_too_high' } });
    expect(await spent()).toBe(0);
    expect(await h.usdcOf(terms.payTo)).toBe(0n);
  });

  it('is not called a second time when its process dies before the answer', async () => {
    site.mode = { kind: resumes ? 'pends' : 'hangs' };
    const { requestId, deadline } = await beforeDeadline(resumes ? 2500 : 1500, async (soon) => {
      const begun = await invoke({}, { deadline: soon });
      await until(async () => site.work.length > 0 || Date.now() > Date.parse(soon));
      return site.work.length === 0 ? null : { ...begun, deadline: soon };
    });
    if (resumes) await untilNoted(requestId);
    await untilTakenAway(requestId);
    await recoverInvocations(h.ctx);
    const record = await untilEnded(h, client.key, requestId);
    expect(site.work).toHaveLength(1);
    if (resumes) expect(record).toMatchObject({ status: 'completed', cost: '0.05' });
    else {
      expect(record).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'deadline_exceeded' } });
      expect(Date.parse(record.completedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(deadline));
      expect(await spent()).toBe(0);
    }
  });

  it.runIf(resumes)('is asked on by the next process although it answers that one with 503 at first', async () => {
    const requestId = await takenRequest();
    await untilTakenAway(requestId);
    const turnedAway = turnAway(503, 1);
    await recoverInvocations(h.ctx);
    await turnedAway;
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(site.work).toHaveLength(1);
  });

  it.runIf(resumes)('is asked on for the work that it has taken while it is away for some seconds', async () => {
    const requestId = await takenRequest();
    const comeBack = await site.away();
    await sleep(4000);
    site.mode = { kind: 'works' };
    await comeBack();
    const record = await untilEnded(h, client.key, requestId);
    expect(record).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(site.work).toHaveLength(1);
  });

  it.runIf(resumes)('is asked on for the work that it has taken when it was asked too often', async () => {
    const requestId = await takenRequest();
    await turnAway(429, 2);
    site.mode = { kind: 'works' };
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(site.work).toHaveLength(1);
  });

  it('is called again when certainly nothing reached it', async () => {
    site.mode = { kind: 'works' };
    let comeBack: (() => Promise<void>) | null = await site.away();
    const { guardedFetch } = h.ctx;
    const spies = (['request', 'stream'] as const).map((name) => {
      const send = guardedFetch[name] as (request: unknown) => Promise<never>;
      return vi.spyOn(guardedFetch, name).mockImplementation(async (request: unknown) => {
        try {
          return await send(request);
        } catch (error) {
          const isAway = comeBack;
          comeBack = null;
          await isAway?.();
          throw error;
        }
      });
    });
    const record = await invoke();
    for (const spy of spies) spy.mockRestore();
    expect(record).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(comeBack).toBe(null);
    expect(site.work).toHaveLength(1);
  });

  it('is called no more when nothing ever reaches it: the call fails, and the money is back', async () => {
    const comeBack = await site.away();
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'agent_unreachable' } });
    expect(await spent()).toBe(0);
    await comeBack();
  });
});

describe('while the database is away', () => {
  const away = () => Promise.reject(new DatabaseAwayError(new Error('refused'), 'nothing', false));

  it('a result that has come is kept until it can be stored', async () => {
    const site = await startOpenaiUpstream();
    const agent = await listUpstream(h, site);
    const { db, finisher } = h.ctx;
    const finish = vi.spyOn(finisher, 'finish');
    const { transaction } = db;
    const isAway = () => finish.mock.calls.length === 1;
    const spy = vi
      .spyOn(db, 'transaction')
      .mockImplementation((...args) => (isAway() ? away() : transaction.call(db, ...args)));
    const body = { task: 'Hello', deadline: new Date(Date.now() + 20_000).toISOString() };
    const { data } = (await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers: sync })).body;
    spy.mockRestore();
    finish.mockRestore();
    expect(data).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(site.work).toHaveLength(1);
    await site.stop();
  });

  it('the id of work that has begun is kept until it can be stored', async () => {
    const site = await startMipUpstream();
    const agent = await listUpstream(h, site);
    const { db } = h.ctx;
    const { query } = db;
    let refused = 0;
    const spy = vi
      .spyOn(db, 'query')
      .mockImplementation((name, ...args) =>
        name === 'record-upstream-handle' && refused++ === 0 ? away() : query.call(db, name, ...args),
      );
    const body = { task: 'Hello', deadline: new Date(Date.now() + 20_000).toISOString() };
    const { data } = (await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers: sync })).body;
    spy.mockRestore();
    expect(data).toMatchObject({ status: 'completed', cost: '0.05' });
    expect([refused, site.work.length]).toEqual([2, 1]);
    await site.stop();
  });
});

it('progress without end fails the call when it has 10,000 chunks, and the money is back', async () => {
  const site = await startMcpUpstream();
  const agent = await listUpstream(h, site);
  const notice = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };
  const text = `data: ${JSON.stringify(notice)}\n\n`.repeat(15_000);
  site.mode = { kind: 'says', status: 200, text, headers: { 'content-type': 'text/event-stream' } };
  const body = { task: 'Hello', stream: true };
  const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body })).body.data;
  const record = await untilEnded(h, client.key, requestId);
  expect(record).toMatchObject({ status: 'failed', refund: '0.05', error: { code: 'response_too_large' } });
  const stored = 'select count(*)::int as count from invocation_chunk where invocation_id = $1';
  const [row] = await askDatabase<{ count: number }>(h.databaseUrl, stored, [requestId]);
  expect(row?.count).toBeLessThan(12_000);
  await site.stop();
});
