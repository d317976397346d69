import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
import { recountUse } from '../../support/recount-use.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';

interface Made {
  readonly requestId: string;
  readonly agentId: string;
  readonly status: string;
  readonly cost: string | null;
  readonly createdAt: string;
}

let h: Harness;
let client: Client;
let agents: TestAgent[];
let byAgent: string;
/** Every request of the account, newest first. */
let made: Made[];

/** Midnight belongs to the day that begins; two requests of one moment are in the order of their ids. */
const moments = [
  ...['2026-03-01T00:00:00.000Z', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00.000Z', '2026-03-02T12:00:00.000Z'],
  ...['2026-03-02T12:00:00.000Z', '2026-03-02T12:00:00.000Z', '2026-03-03T00:00:00.000Z', '2026-02-28T23:59:59.999Z'],
  ...['2026-03-05T10:00:00.000Z', '2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-03-02T12:00:00.001Z'],
];

beforeAll(async () => {
  h = await startHarness();
  client = await newClient(h, '5.00');
  agents = await Promise.all(
    [0, 1].map(() =>
      startTestAgent(h, {
        perRequest: '0.05',
        owner: client,
        behaviour: answerWith(200, { result: 1, cost: '0.012345' }),
      }),
    ),
  );
  const [first, second] = agents as [TestAgent, TestAgent];
  for (const [index, at] of moments.entries()) {
    const agent = index % 3 === 0 ? second : first;
    if (index % 4 === 1) agent.behave(answerWith(500, {}));
    else if (index === 7) agent.behave(() => undefined);
    else agent.behave(answerWith(200, { result: 1, cost: `0.0${index}2345` }));
    const key = index === 10 ? first.identityToken : client.key;
    const headers = index === 7 ? {} : { 'x-sync': 'true' };
    const { body } = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: `task ${index}` }, headers });
    if (index === 10) byAgent = body.data.requestId;
    await h.ctx.db.pool.query('update invocation set created_at = $2 where id = $1', [body.data.requestId, at]);
  }
  // What has ended is carried first: what waits keeps the time that it was made at.
  const isCarried = async () => (await h.ctx.db.pool.query('select from call_change')).rowCount === 0;
  await until(isCarried);
  await recountUse(h.databaseUrl);
  const { rows } = await h.ctx.db.pool.query<{
    id: string;
    agent: string;
    status: string;
    cost: bigint | null;
    at: Date;
  }>(
    'select id, agent_id as agent, status, cost_micro as cost, created_at as at from invocation where account_id = $1',
    [client.accountId],
  );
  made = rows
    .map(({ id, agent, status, cost, at }) => ({
      ...{ requestId: id, agentId: agent, status, createdAt: at.toISOString() },
      cost: cost === null ? null : formatUsdc(cost),
    }))
    .sort((a, b) =>
      a.createdAt === b.createdAt ? (a.requestId < b.requestId ? -1 : 1) : a.createdAt < b.createdAt ? 1 : -1,
    );
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
});

const history = async (query: Record<string, string | number> = {}, key = client.key) => {
  const text = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  );
  const { status, body } = await h.request('GET', `/invoke/history?${text}`, { key });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data;
};
const idsOf = (list: readonly { requestId: string }[]) => list.map(({ requestId }) => requestId);
const totalCost = (list: readonly Made[]) =>
  formatUsdc(list.reduce((sum, { cost }) => sum + (cost === null ? 0n : parseUsdc(cost)), 0n));

it('shows the fields of the spec, and those that a list needs besides, newest first', async () => {
  expect(made.length).toBe(moments.length);
  const { requests, total, hasMore, nextCursor, totalCost: sum } = await history();
  expect(idsOf(requests)).toEqual(idsOf(made));
  expect({ total, hasMore, nextCursor, sum }).toEqual({
    total: 12,
    hasMore: false,
    nextCursor: null,
    sum: totalCost(made),
  });
  for (const item of requests) {
    expect(Object.keys(item).sort()).toEqual([
      'agentId',
      'agentName',
      'bulkId',
      'completedAt',
      'cost',
      'createdAt',
      'duration',
      'errorCode',
      'paymentMethod',
      'refund',
      'requestId',
      'requestedAgentId',
      'status',
      'task',
    ]);
    expect(made.find(({ requestId }) => requestId === item.requestId)).toMatchObject({
      status: item.status,
      cost: item.cost,
    });
    expect(item.duration === null).toBe(item.status === 'processing');
  }
});

describe('a search', () => {
  const found = async (search: string, query: Record<string, string | number> = {}, key = client.key) =>
    history({ search, ...query }, key);

  it('finds text of the task and of the name of the agent, in any case, with exact totals, page by page', async () => {
    const { requests, total, totalCost: sum, nextCursor } = await found('TASK 1', { limit: 2 });
    const wanted = (await history()).requests.filter(({ task }: { task: string }) => task.includes('task 1'));
    expect(wanted.length).toBeGreaterThan(2);
    expect(idsOf(requests)).toEqual(idsOf(wanted).slice(0, 2));
    const ofAll = made.filter(({ requestId }) => idsOf(wanted).includes(requestId));
    expect({ total, sum }).toEqual({ total: wanted.length, sum: totalCost(ofAll) });
    const rest = await found('task 1', { limit: 100, cursor: nextCursor });
    expect(idsOf(rest.requests)).toEqual(idsOf(wanted).slice(2));
    expect(idsOf((await found('task 1', { limit: 100, offset: 1 })).requests)).toEqual(idsOf(wanted).slice(1));
    await h.ctx.db.pool.query("update agent set name = 'Grüner Fuchs 100%' where id = $1", [agents[1]?.id]);
    const byName = await found('grüner FUCHS');
    expect(byName.total).toBe(made.filter(({ agentId }) => agentId === agents[1]?.id).length);
  });

  it('takes no sign as a pattern, and finds nothing of others', async () => {
    for (const search of ['%', '_ask', 'task .', "' or true --"]) {
      const shown = (await found(search)).requests as { task: string; agentName: string }[];
      expect(shown.every(({ task, agentName }) => task.includes(search) || agentName.includes(search))).toBe(true);
    }
    const stranger = await newClient(h, '1.00');
    expect(await found('task', {}, stranger.key)).toMatchObject({ requests: [], total: 0, totalCost: '0.00' });
  });
});

describe('every combination of filters', () => {
  it('gives what a list in memory gives, with exact totals of all that match', async () => {
    const days = [undefined, '2025-12-31', '2026-01-01', '2026-03-01', '2026-03-02', '2026-03-03', '2027-01-01'];
    let checked = 0;
    for (const status of [undefined, 'completed', 'failed', 'processing', 'cancelled', 'pending'])
      for (const agentId of [undefined, agents[0]?.id, 'agt_unknown'])
        for (const startDate of days)
          for (const endDate of days) {
            if (startDate && endDate && startDate > endDate) continue;
            checked += 1;
            const wanted = made.filter(
              (each) =>
                (status === undefined || each.status === status) &&
                (agentId === undefined || each.agentId === agentId) &&
                (startDate === undefined || each.createdAt.slice(0, 10) >= startDate) &&
                (endDate === undefined || each.createdAt.slice(0, 10) <= endDate),
            );
            const query = Object.fromEntries(
              Object.entries({ status, agentId, startDate, endDate }).filter(([, value]) => value !== undefined),
            ) as Record<string, string>;
            const found = await history({ ...query, limit: 3 });
            expect({ query, ids: idsOf(found.requests) }).toEqual({ query, ids: idsOf(wanted).slice(0, 3) });
            expect(found).toMatchObject({
              total: wanted.length,
              totalCost: totalCost(wanted),
              hasMore: wanted.length > 3,
            });
          }
    expect(checked).toBeGreaterThan(300);
  });

  it('an end before the start is refused, as are days that are none', async () => {
    for (const query of [
      'startDate=2026-03-02&endDate=2026-03-01',
      'startDate=2026-02-30',
      'endDate=03/01/2026',
      'startDate=2026-03-01T00:00:00Z',
      'status=all',
      'limit=0',
      'limit=101',
      'offset=10001',
      'cursor=nonsense',
      'cursor=&offset=1',
    ])
      expect([query, (await h.request('GET', `/invoke/history?${query}`, { key: client.key })).status]).toEqual([
        query,
        400,
      ]);
  });

  it.each(['0001-01-01', '9999-12-31', '0000-01-01'])('the day %s is a day like any other', async (day) => {
    expect((await history({ startDate: day })).total).toBe(day === '9999-12-31' ? 0 : 12);
    expect((await history({ endDate: day })).total).toBe(day === '9999-12-31' ? 12 : 0);
  });
});

describe('pages', () => {
  it.each([1, 2, 5, 12, 100])('of %i by offset and by cursor show each request once, in order', async (limit) => {
    const byOffset: string[] = [];
    for (let offset = 0; offset < made.length; offset += limit) {
      const page = await history({ limit, offset });
      byOffset.push(...idsOf(page.requests));
      expect(page).toMatchObject({ total: 12, hasMore: offset + limit < 12 });
    }
    const byCursor: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { requests: Made[]; nextCursor: string | null } = await history({
        limit,
        ...(cursor ? { cursor } : {}),
      });
      byCursor.push(...idsOf(page.requests));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(byOffset).toEqual(idsOf(made));
    expect(byCursor).toEqual(idsOf(made));
  });
});

it('a page has about a megabyte of tasks, however large they are, and the next one begins behind it', async () => {
  const { key, accountId } = await newClient(h, '1.00');
  agents[0]?.behave(answerWith(200, { result: 1 }));
  for (let n = 0; n < 12; n++)
    await h.request('POST', `/invoke/${agents[0]?.id}`, { key, body: { task: `${n}` }, headers: { 'x-sync': 'true' } });
  await h.ctx.db.pool.query("update invocation set task = repeat('é', 100000) where account_id = $1", [accountId]);
  const told = (page: { requests: Made[]; total: number; hasMore: boolean }) => [
    page.requests.length,
    page.total,
    page.hasMore,
  ];
  const filters: Record<string, string>[] = [{}, { search: 'é' }];
  for (const filter of filters) {
    const first = await history({ ...filter, limit: 100 }, key);
    expect(told(first)).toEqual([6, 12, true]);
    const places: Record<string, string | number>[] = [{ offset: 6 }, { cursor: first.nextCursor }];
    for (const place of places) {
      const second = await history({ ...filter, limit: 100, ...place }, key);
      expect([...told(second), second.nextCursor]).toEqual([6, 12, false, null]);
      expect(new Set([...idsOf(first.requests), ...idsOf(second.requests)]).size).toBe(12);
    }
  }
});

it('an agent sees its own requests, the account also those of its agents, strangers nothing', async () => {
  expect(idsOf((await history({}, agents[0]?.identityToken)).requests)).toEqual([byAgent]);
  expect(idsOf((await history()).requests)).toContain(byAgent);
  expect(await history({}, (await h.newAccount()).key)).toMatchObject({
    requests: [],
    total: 0,
    totalCost: '0.00',
    hasMore: false,
  });
});
