import { failureReasons, requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupFailures, listCallsTo } from '../../../src/calls/read/agent-call-store.ts';
import type { Sql } from '../../../src/store/sql.ts';
import { expectError } from '../../http/api/support/expect-error.ts';
import { callTool } from '../../http/gateways/mcp/raw-client.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';

const SECRET = 'what-the-caller-sent';
const task = { task: `task ${SECRET}`, input: { text: SECRET }, context: SECRET, metadata: { note: SECRET } };

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
let buyer: TestAgent;
let client: Client;
const wallets: string[] = [];
beforeAll(async () => {
  h = await startHarness({ env: { PLATFORM_FEE_BPS: '250' } });
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
  client = await newClient(h, '5');
  buyer = await startTestAgent(h, { owner: client, perRequest: '1' });
  await makeCalls();
});
afterAll(async () => {
  await Promise.all([agent.die(), buyer.die()]);
  await h.stop();
});

const sync = { 'x-sync': 'true' };
const invoke = (key: string, headers: Record<string, string> = sync) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: task, headers });

/** One call of each kind of caller and way: six that complete and, last, two that the agent fails. */
async function makeCalls(): Promise<void> {
  await invoke(client.key);
  await h.request('POST', '/invoke/bulk', { key: client.key, body: { ...task, agents: [agent.id] } });
  await h.request('POST', `/invoke/${buyer.id}`, { key: client.key, body: { task: 'x' }, headers: sync });
  await invoke(buyer.identityToken);
  const wallet = await h.newWallet(100_000n);
  wallets.push(wallet.address);
  const keyless = (headers: Record<string, string> = {}) =>
    h.request('POST', `/x402/${agent.id}`, { body: task, headers });
  await keyless(await payV2(h, wallet, await keyless()));
  await callTool(h.baseUrl, client.key, 'invoke_agent', {
    ...{ agentId: agent.id, maxCost: '1', task: task.task, input: task.input },
  });
  await invoke(owner.key, { ...sync, ...(await payV2(h, wallet, await invoke(owner.key))) });
  agent.behave(answerWith(500, { error: { message: 'out of memory' } }));
  await invoke(client.key);
  await invoke(client.key);
  agent.behave(echo);
}

const get = (path: string, key?: string) => h.request('GET', path, { key: key ?? owner.key });
const calls = async (query = '') => (await get(`/agents/${agent.id}/calls${query}`)).body.data;
const errors = async (query = '') => (await get(`/agents/${agent.id}/errors${query}`)).body.data;

describe("the log of an agent's calls", () => {
  it('has every call, newest first, with the kind of its caller, its way, status, latency, cost and error', async () => {
    const { calls: log, hasMore, nextCursor } = await calls();
    const shown = log.map(({ caller, face, isOwn, status, cost }: Record<string, unknown>) =>
      [caller, face, isOwn ? 'own' : '', status, cost].join(' '),
    );
    expect(shown).toEqual([
      'account rest  failed 0.00',
      'account rest  failed 0.00',
      'account rest own completed 0.05',
      'account mcp  completed 0.05',
      'wallet x402  completed 0.05',
      'agent rest  completed 0.05',
      'account rest  completed 0.05',
      'account rest  completed 0.05',
    ]);
    expect(log[0].error).toEqual({ code: 'agent_error', message: 'The agent answered 500: out of memory.' });
    expect(log[2].error).toBeNull();
    for (const each of log) {
      const tookMs = Date.parse(each.completedAt) - Date.parse(each.createdAt);
      expect(each.latencyMs).toBeGreaterThanOrEqual(0);
      expect(each.latencyMs).toBeLessThanOrEqual(tookMs);
    }
    expect([hasMore, nextCursor]).toEqual([false, null]);
  });

  it('shows nothing of what the callers sent, and nothing that names them', async () => {
    const text = JSON.stringify([await calls(), await errors()]);
    for (const hidden of [SECRET, client.accountId, client.address, buyer.id, ...wallets])
      expect(text.toLowerCase()).not.toContain(hidden.toLowerCase());
  });

  it("shows why a payment failed by its code only: the message tells of the caller's money", async () => {
    const { calls: before } = await calls();
    const said = { code: 'payment_failed', text: 'The wallet 0xabc holds 0.01 USDC.' };
    const [newest] = before;
    const end = (code: string, text: string) =>
      h.ctx.db.query('end-as', 'update invocation set error_code = $2, error_message = $3 where id = $1', [
        ...[newest.requestId, code, text],
      ]);
    await end(said.code, said.text);
    expect((await calls()).calls[0].error).toEqual({ code: said.code, message: null });
    expect((await errors()).groups).toContainEqual(expect.objectContaining({ code: said.code, message: null }));
    await end(newest.error.code, newest.error.message);
  });

  it('is readable by the owner only', async () => {
    for (const name of ['calls', 'errors', 'earnings']) {
      const path = `/agents/${agent.id}/${name}`;
      expectError(await get(path, client.key), 'FORBIDDEN');
      expectError(await get(path, agent.identityToken), 'FORBIDDEN');
      expectError(await h.request('GET', path), 'UNAUTHORIZED');
      expectError(await get(path.replace(agent.id, 'agt_nobody')), 'NOT_FOUND');
    }
  });

  it('does not make requests of others readable by their ids', async () => {
    const [{ requestId }] = (await calls()).calls;
    expectError(await get(`/invoke/${requestId}`), 'NOT_FOUND');
  });

  it('is filtered by status, by error and by time', async () => {
    const all = (await calls()).calls as { requestId: string; status: string; createdAt: string }[];
    const failed = all.filter(({ status }) => status === 'failed');
    expect((await calls('?status=failed')).calls).toEqual(failed);
    expect((await calls('?error=agent_error')).calls).toEqual(failed);
    expect((await calls('?error=agent_unreachable')).calls).toEqual([]);
    expect((await calls('?status=cancelled')).calls).toEqual([]);
    const at = all[3]?.createdAt as string;
    const since = all.filter(({ createdAt }) => createdAt >= at);
    expect((await calls(`?from=${at}`)).calls).toEqual(since);
    expect((await calls(`?before=${at}`)).calls).toEqual(all.filter(({ createdAt }) => createdAt < at));
    expectError(await get(`/agents/${agent.id}/calls?status=completed&error=agent_error`), 'VALIDATION_ERROR');
    expectError(await get(`/agents/${agent.id}/calls?cursor=x`), 'VALIDATION_ERROR');
  });

  it('comes in pages that have each call once', async () => {
    const all = (await calls()).calls;
    const paged: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await calls(`?limit=3${cursor && `&cursor=${cursor}`}`);
      expect(page.calls.length).toBeLessThanOrEqual(3);
      paged.push(...page.calls);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
  });

  it('begins, for an account that took the agent over, when it did', async () => {
    const [newest] = (await calls()).calls;
    await h.ctx.db.query('take-over', 'update agent set owned_since = $2 where id = $1', [agent.id, newest.createdAt]);
    expect((await calls()).calls).toEqual([newest]);
    expect((await calls('?from=2020-01-01T00:00:00Z')).calls).toEqual([newest]);
    expect((await errors()).groups).toMatchObject([{ count: 1 }]);
    await h.ctx.db.query('take-back', 'update agent set owned_since = null where id = $1', [agent.id]);
  });
});

describe('the errors of an agent', () => {
  it('are grouped by reason and message, with their number, the last time and an example', async () => {
    const [newest] = (await calls()).calls;
    const { groups, days } = await errors();
    expect(days).toBe(7);
    expect(groups).toEqual([
      {
        ...{ code: 'agent_error', message: 'The agent answered 500: out of memory.', count: 2, isAtLeast: false },
        ...{ lastAt: newest.createdAt, requestId: newest.requestId },
      },
    ]);
  });
});

describe('the earnings of an agent', () => {
  it.each([
    ['', 30],
    ['?days=7', 7],
    ['?days=1', 1],
  ])('by day%s are what its treasury was credited, less fees', async (query, days) => {
    const { body } = await get(`/agents/${agent.id}/earnings${query}`);
    const { buckets, calls: count, failed, earned } = body.data;
    const { available } = (await get('/payments/balance')).body.data;
    expect({ count, failed, earned }).toEqual({ count: 8, failed: 2, earned: available });
    expect(buckets).toHaveLength(days);
    expect(buckets.at(-1)).toMatchObject({ calls: 8, failed: 2, earned: available });
    if (days > 1) expect(buckets[0]).toMatchObject({ calls: 0, failed: 0, earned: '0.00' });
  });
});

describe('with very many calls', () => {
  const MANY = 20_000;
  const columns = `account_id, agent_id, task, input, metadata, priority, price_micro, estimated_time, deadline, payment_method, attempt`;

  beforeAll(async () => {
    await h.ctx.db.query(
      'many-calls',
      `insert into invocation (id, ${columns}, status, cost_micro, error_code, error_message, created_at, started_at, completed_at)
       select 'req_many' || i, ${columns}, case when i % 2 = 0 then 'completed' else 'failed' end, 0,
              case when i % 2 = 1 then 'agent_unreachable' end, case when i % 2 = 1 then 'no' end, at, at, at
         from (select * from invocation where agent_id = $1 limit 1) v,
              lateral (select i, now() - interval '1 day' - i * interval '1 second' as at from generate_series(1, ${MANY}) i) n`,
      [agent.id],
    );
    await h.ctx.db.query('analyze-calls', 'analyze invocation');
  });
  afterAll(() => h.ctx.db.query('no-calls', `delete from invocation where id like 'req_many%'`, []));

  /** Rows of calls that a statement touches, by the plan that serves whatever parameters. */
  async function touched(run: (sql: Sql) => Promise<unknown>): Promise<number> {
    let rows = 0;
    const connection = await h.ctx.db.pool.connect();
    const explain = async (_: string, text: string, values: readonly unknown[] = []) => {
      await connection.query(`begin; set local plan_cache_mode = force_generic_plan; prepare explained as ${text}`);
      const plans = await connection.query(
        `explain (analyze, format json) execute explained (${values.map(literal).join(', ')})`,
      );
      await connection.query('deallocate explained; rollback');
      rows = rowsOf(plans.rows[0]['QUERY PLAN']);
      return [];
    };
    await run({ query: explain } as unknown as Sql).finally(() => connection.release());
    return rows;
  }

  const literal = (value: unknown): string => {
    if (Array.isArray(value)) return `'{${value.join()}}'`;
    return `'${value instanceof Date ? value.toISOString() : value}'`;
  };

  // biome-ignore lint/suspicious/noExplicitAny: a plan of PostgreSQL
  function rowsOf(plan: any): number {
    if (Array.isArray(plan)) return plan.reduce((sum, each) => sum + rowsOf(each), 0);
    if (plan.Plan) return rowsOf(plan.Plan);
    const { 'Actual Rows': rows, 'Actual Loops': loops, 'Rows Removed by Filter': removed = 0 } = plan;
    const own = plan['Relation Name'] === 'invocation' ? (rows + removed) * loops : 0;
    return own + rowsOf(plan.Plans ?? []);
  }

  const query = {
    ...{ accountId: 'acc_x', from: null, before: null, after: null, limit: 21 },
    by: { column: 'status', values: requestStatuses },
  } as const;
  const DAY_MS = 86_400_000;

  it.each([
    ['the newest', {}],
    ['those behind a cursor', { after: { createdAt: new Date(Date.now() - DAY_MS - 15e6), id: 'req_many15000' } }],
    [
      'those of an old hour',
      { from: new Date(Date.now() - DAY_MS - 18e6), before: new Date(Date.now() - DAY_MS - 15e6) },
    ],
    ['a status that hardly any has', { by: { column: 'status', values: ['cancelled'] } }],
    ['a reason that hardly any has', { by: { column: 'errorCode', values: ['agent_error'] } }],
  ] as const)('%s cost a page of rows for each status, not the history', async (_, more) => {
    const rows = await touched((sql) => listCallsTo(sql, { agentId: agent.id, ...query, ...more }));
    expect(rows).toBeLessThanOrEqual(requestStatuses.length * (query.limit + 1));
  });

  it('errors cost a thousand rows for each reason, and say that there are more', async () => {
    const asked = { agentId: agent.id, codes: failureReasons, silent: [], from: new Date(0), most: 1000, limit: 50 };
    expect(await touched((sql) => groupFailures(sql, asked))).toBeLessThanOrEqual(1002);
    expect((await errors()).groups).toMatchObject([
      { code: 'agent_unreachable', count: 1000, isAtLeast: true },
      { code: 'agent_error', count: 2, isAtLeast: false },
    ]);
  });
});
