import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { isLong } from '../../support/long.ts';
import {
  answerWith,
  type Behaviour,
  echo,
  startTestAgent,
  type TestAgent,
  untilStatus,
} from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';

const RACES = isLong ? 200 : 60;
let h: Harness;
let agents: TestAgent[];
let away: TestAgent[];
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  agents = await Promise.all(Array.from({ length: 5 }, () => startTestAgent(h, { perRequest: '0.05' })));
  away = await Promise.all(
    Array.from({ length: 2 }, () => startTestAgent(h, { perRequest: '0.05', provesItself: false })),
  );
  // One that is offline, and one that has never proven itself.
  const gone = agents.pop() as TestAgent;
  await h.request('POST', `/agents/${gone.id}/heartbeat`, { key: gone.identityToken, body: { accepting: false } });
  await untilStatus(h, gone.id, 'offline');
  away[0] = gone;
});
beforeEach(async () => {
  client = await newClient(h, '1.00');
  behaveAll(echo);
});
afterAll(async () => {
  await Promise.all([...agents, ...away].map((agent) => agent.die()));
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const behaveAll = (behaviour: Behaviour) => agents.map((agent) => agent.behave(behaviour));
const says = (value: unknown): Behaviour => answerWith(200, { result: value });
const broken = answerWith(500, {});
const silent: Behaviour = () => undefined;
const ids = (list: readonly TestAgent[]) => list.map(({ id }) => id);
const start = (body: object, key = client.key) =>
  h.request('POST', '/invoke/bulk', { key, body: { task: 'x', ...body } });
const read = async (bulkId: string) =>
  (await h.request('GET', `/invoke/bulk/${bulkId}`, { key: client.key })).body.data;
async function untilDone(bulkId: string) {
  return until(async () => {
    const bulk = await read(bulkId);
    return bulk.status === 'processing' ? null : bulk;
  });
}
const statesOf = (bulk: { requests: { status: string }[] }) => bulk.requests.map(({ status }) => status);
const recordsOf = (bulk: { requests: { requestId: string }[] }) =>
  Promise.all(
    bulk.requests.map(
      async ({ requestId }) => (await h.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data,
    ),
  );
const spent = async () => {
  const { available, held } = await balanceOf(h, client.key);
  return { spent: formatUsdc(1_000_000n - parseUsdc(available) - parseUsdc(held)), held };
};

describe('a bulk request for all', () => {
  it('calls every agent with the same task, holds the worst case first, and is done when every one ended', async () => {
    const gate = Promise.withResolvers<void>();
    behaveAll(async (request, response) => {
      await gate.promise;
      await echo(request, response);
    });
    agents[1]?.behave(broken);
    const { status, body } = await start({ agents: ids(agents), input: { a: 1 }, strategy: 'all', context: 'c' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ strategy: 'all', estimatedCost: '0.20' });
    expect(body.data.requests.map(({ agentId }: { agentId: string }) => agentId)).toEqual(ids(agents));
    expect(await read(body.data.bulkId)).toMatchObject({ status: 'processing', cost: null, completedAt: null });
    gate.resolve();
    const bulk = await untilDone(body.data.bulkId);
    expect(bulk).toMatchObject({ status: 'completed', winner: null, result: null, cost: '0.15' });
    expect(statesOf(bulk).sort()).toEqual(['completed', 'completed', 'completed', 'failed']);
    for (const record of await recordsOf(bulk)) expect(record).toMatchObject({ bulkId: bulk.bulkId, task: 'x' });
    expect(agents[0]?.calls.at(-1)?.body).toMatchObject({ task: 'x', input: { a: 1 }, context: 'c' });
    expect(await spent()).toEqual({ spent: '0.15', held: '0.00' });
  });

  it('has failed when none completed', async () => {
    behaveAll(broken);
    const bulk = await untilDone((await start({ agents: ids(agents) })).body.data.bulkId);
    expect(bulk).toMatchObject({ strategy: 'all', status: 'failed', cost: '0.00' });
    expect(await spent()).toEqual({ spent: '0.00', held: '0.00' });
  });
});

describe('a bulk request for the first success', () => {
  it('is done with the first completed; the others are cancelled at their agents and cost nothing', async () => {
    const closed: Promise<void>[] = [];
    behaveAll((_request, response) => void closed.push(new Promise((resolve) => response.once('close', resolve))));
    agents[0]?.behave(broken);
    agents[2]?.behave(says('won'));
    const bulk = await untilDone((await start({ agents: ids(agents), strategy: 'first_success' })).body.data.bulkId);
    expect(bulk).toMatchObject({
      status: 'completed',
      result: 'won',
      winner: bulk.requests[2].requestId,
      cost: '0.05',
    });
    expect(statesOf(bulk)[2]).toBe('completed');
    expect(statesOf(bulk).filter((state) => state === 'cancelled').length).toBeGreaterThanOrEqual(2);
    await Promise.all(closed);
    expect(await spent()).toEqual({ spent: '0.05', held: '0.00' });
  });

  it(`of simultaneous winners has exactly one, over ${RACES} runs; only it is charged`, async () => {
    client = await newClient(h, '12.00');
    const race = async () => {
      const { bulkId } = (await start({ agents: ids(agents).slice(0, 3), strategy: 'first_success' })).body.data;
      const bulk = await untilDone(bulkId);
      const records = await recordsOf(bulk);
      expect(records.map(({ status }) => status).sort()).toEqual(['cancelled', 'cancelled', 'completed']);
      const winner = records.find(({ status }) => status === 'completed');
      expect(bulk).toMatchObject({
        status: 'completed',
        winner: winner.requestId,
        cost: '0.05',
        result: winner.result,
      });
      expect(records.map(({ cost, refund }) => `${cost} ${refund}`).sort()).toEqual([
        ...['0.00 0.05', '0.00 0.05', '0.05 0.00'],
      ]);
    };
    for (let run = 0; run < RACES; run += 4) await Promise.all([race(), race(), race(), race()]);
    expect(await balanceOf(h, client.key)).toEqual({ available: (12 - RACES * 0.05).toFixed(2), held: '0.00' });
    const [events] = await askDatabase<{ count: string }>(
      h.databaseUrl,
      `select count(*) from event where type = 'bulk.completed' and account_id = $1`,
      [client.accountId],
    );
    expect(events?.count).toBe(String(RACES));
  });

  it('has failed when all failed', async () => {
    behaveAll(broken);
    const bulk = await untilDone((await start({ agents: ids(agents), strategy: 'first_success' })).body.data.bulkId);
    expect(bulk).toMatchObject({ status: 'failed', winner: null, result: null, cost: '0.00' });
  });
});

describe('a bulk request for a majority', () => {
  const majority = async (list: readonly TestAgent[]) =>
    untilDone((await start({ agents: ids(list), strategy: 'majority' })).body.data.bulkId);

  it('is done as soon as more than half agree, whatever the order of their keys; the rest is cancelled', async () => {
    const three = agents.slice(0, 3);
    three[0]?.behave(says({ a: 1, b: [2] }));
    three[1]?.behave(says({ b: [2], a: 1 }));
    three[2]?.behave(silent);
    const bulk = await majority(three);
    expect(bulk).toMatchObject({ status: 'completed', result: { a: 1, b: [2] }, cost: '0.10' });
    expect(statesOf(bulk)).toEqual(['completed', 'completed', 'cancelled']);
    expect(bulk.requests.slice(0, 2).map(({ requestId }: { requestId: string }) => requestId)).toContain(bulk.winner);
    expect(await spent()).toEqual({ spent: '0.10', held: '0.00' });
  });

  it('has failed as soon as none can be reached; what was delivered is paid, the rest is cancelled', async () => {
    const three = agents.slice(0, 3);
    three[0]?.behave(says('a'));
    three[1]?.behave(broken);
    three[2]?.behave(silent);
    // One of three has failed and the silent one could still agree: open. Then the next fails, too.
    const { bulkId } = (await start({ agents: ids(three), strategy: 'majority' })).body.data;
    await until(async () => statesOf(await read(bulkId)).filter((each) => each === 'processing').length === 1);
    const open = await read(bulkId);
    expect(open.status).toBe('processing');
    await h.request('POST', `/invoke/${open.requests[2].requestId}/cancel`, { key: client.key });
    expect(await untilDone(bulkId)).toMatchObject({ status: 'failed', winner: null, result: null, cost: '0.05' });
    expect(await spent()).toEqual({ spent: '0.05', held: '0.00' });
  });

  it('is not had by half of them: a tie has failed', async () => {
    const values = ['a', 'a', 'b', 'b'];
    agents.forEach((agent, index) => void agent.behave(says(values[index])));
    expect(await majority(agents)).toMatchObject({
      status: 'failed',
      winner: null,
      cost: expect.stringMatching(/^0\.[12]/),
    });
  });

  it('of one agent is that one', async () => {
    expect(await majority(agents.slice(0, 1))).toMatchObject({ status: 'completed', result: { echo: 'x' } });
  });

  it('that offline agents put out of reach fails at once and calls nobody', async () => {
    const calls = agents[0]?.calls.length;
    const answer = await start({ agents: [...ids(away), ...ids(agents.slice(0, 1))], strategy: 'majority' });
    expect(statesOf(answer.body.data)).toEqual(['failed', 'failed', 'cancelled']);
    expect(await read(answer.body.data.bulkId)).toMatchObject({ status: 'failed', cost: '0.00' });
    expect(await spent()).toEqual({ spent: '0.00', held: '0.00' });
    const [later] = agents;
    await start({ agents: ids(agents.slice(0, 1)) });
    await until(async () => (later?.calls.length ?? 0) > (calls ?? 0));
    expect(later?.calls.length).toBe((calls ?? 0) + 1);
  });
});

describe('agents that cannot be called', () => {
  it('fail at once and cost nothing, the others work', async () => {
    const { body } = await start({ agents: [...ids(away), ...ids(agents.slice(0, 2))] });
    expect(body.data).toMatchObject({ estimatedCost: '0.10' });
    expect(statesOf(body.data)).toEqual(['failed', 'failed', 'processing', 'processing']);
    const bulk = await untilDone(body.data.bulkId);
    expect(bulk).toMatchObject({ status: 'completed', cost: '0.10', estimatedCost: '0.10' });
    const [first] = await recordsOf(bulk);
    expect(first).toMatchObject({
      status: 'failed',
      error: { code: 'agent_unreachable' },
      cost: '0.00',
      refund: '0.00',
    });
  });

  it('all of them: 503 AGENT_UNAVAILABLE with alternatives, and nothing is started', async () => {
    const { status, body } = await start({ agents: ids(away) });
    expect([status, body.error.code, body.error.agentId]).toEqual([503, 'AGENT_UNAVAILABLE', away[0]?.id]);
    expect(body.error.alternatives.length).toBeGreaterThan(0);
    expect(await nothingStarted()).toBe(true);
  });

  it('because they do not exist: 404, and nothing is started', async () => {
    const { status } = await start({ agents: [...ids(agents), 'agt_00000000000000000000000000'] });
    expect(status).toBe(404);
    expect(await nothingStarted()).toBe(true);
  });
});

const nothingStarted = async () =>
  (await h.request('GET', '/invoke/history', { key: client.key })).body.data.total === 0 &&
  (await balanceOf(h, client.key)).held === '0.00';

describe('money for the worst case', () => {
  it('that is not there: 422 with what is needed and what is there; nothing is started', async () => {
    client = await newClient(h, '0.19');
    const { status, body } = await start({ agents: ids(agents) });
    expect([status, body.error.code]).toEqual([422, 'INSUFFICIENT_FUNDS']);
    expect(body.error.details).toEqual({ required: '0.20', available: '0.19' });
    expect(await nothingStarted()).toBe(true);
    expect((await start({ agents: ids(agents).slice(0, 3) })).status).toBe(200);
  });

  it('of a client without a treasury, and of an agent without money', async () => {
    const { key } = await h.newAccount();
    expect((await start({ agents: ids(agents) }, key)).body.error).toMatchObject({
      ...{ code: 'INSUFFICIENT_FUNDS', details: { required: '0.20', available: '0.00' } },
    });
    expect((await start({ agents: ids(agents) }, away[1]?.identityToken)).body.error).toMatchObject({
      ...{ code: 'INSUFFICIENT_BALANCE', details: { required: '0.20', available: '0.00' } },
    });
  });

  it('above maxCostPerAgent: 400 that names the agent; equal to it: it runs', async () => {
    const { status, body } = await start({ agents: ids(agents), maxCostPerAgent: '0.049999' });
    expect([status, body.error.details.fields[0].path]).toEqual([400, 'maxCostPerAgent']);
    expect(await nothingStarted()).toBe(true);
    expect((await start({ agents: ids(agents), maxCostPerAgent: '0.05' })).status).toBe(200);
  });
});

it('one request of a bulk request can be cancelled by itself; the others go on', async () => {
  behaveAll(silent);
  agents[1]?.behave(echo);
  const { data } = (await start({ agents: ids(agents.slice(0, 2)) })).body;
  const cancelled = await h.request('POST', `/invoke/${data.requests[0].requestId}/cancel`, { key: client.key });
  expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
  const bulk = await untilDone(data.bulkId);
  expect([bulk.status, ...statesOf(bulk)]).toEqual(['completed', 'cancelled', 'completed']);
});

it('is read by who made it alone', async () => {
  const { data } = (await start({ agents: ids(agents.slice(0, 1)) })).body;
  const stranger = await h.newAccount();
  for (const key of [stranger.key, agents[0]?.identityToken])
    expect((await h.request('GET', `/invoke/bulk/${data.bulkId}`, { key })).status).toBe(404);
  expect((await h.request('GET', '/invoke/bulk/blk_nothing', { key: client.key })).status).toBe(404);
});

it('counts every agent as an invocation; above the limit nothing is started or counted', async () => {
  const free = await h.newAccount({ plan: 'free' });
  await h.request('POST', '/payments/treasury', { key: free.key, body: {} });
  const [gratis] = await Promise.all([startTestAgent(h, { perRequest: '0' })]);
  const others = await Promise.all(Array.from({ length: 3 }, () => startTestAgent(h, { perRequest: '0' })));
  const four = ids([gratis as TestAgent, ...others]);
  const left: (string | null)[] = [];
  for (const list of [four, four, four, four.slice(0, 2)]) {
    const { status, headers } = await start({ agents: list }, free.key);
    left.push(`${status} ${headers.get('x-ratelimit-remaining')}`);
  }
  expect(left).toEqual(['200 6', '200 2', '429 2', '200 0']);
  await Promise.all([gratis, ...others].map((agent) => agent?.die()));
});
