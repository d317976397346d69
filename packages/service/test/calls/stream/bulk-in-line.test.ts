import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contradictions } from '../../support/books.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { startWatch } from '../../support/watch.ts';

const ROOM = 2;
const AGENTS = 6;
let h: Harness;
let agents: TestAgent[];
let client: Client;
beforeAll(async () => {
  h = await startHarness({
    env: { MAX_RUNNING: String(ROOM), MAX_RUNNING_PER_ACCOUNT: String(ROOM), MAX_RUNNING_PER_AGENT: String(ROOM) },
  });
  agents = await Promise.all(Array.from({ length: AGENTS }, () => startTestAgent(h, { perRequest: '0.05' })));
});
beforeEach(async () => {
  client = await newClient(h, '10.00');
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

/** All agents wait to be let go; tells the tasks in the order in which they came, and the most that were open at once. */
function holdAll() {
  const open: (() => void)[] = [];
  const came: string[] = [];
  let mostAtOnce = 0;
  for (const agent of agents)
    agent.behave(async ({ body }, response) => {
      const gate = Promise.withResolvers<void>();
      open.push(gate.resolve);
      came.push(body.task);
      mostAtOnce = Math.max(mostAtOnce, open.length);
      await gate.promise;
      answerWith(200, { result: body.task })({ headers: {}, body: null }, response);
    });
  const untilCame = async (count: number) => {
    const isThere = async () => came.length >= count;
    await until(isThere);
  };
  const letOneGo = () => open.shift()?.();
  return { came, untilCame, letOneGo, mostAtOnce: () => mostAtOnce };
}

const bulk = async (body: object) =>
  (
    await h.request('POST', '/invoke/bulk', {
      key: client.key,
      body: { task: 'bulk', agents: agents.map(({ id }) => id), ...body },
    })
  ).body.data;
const single = async (body: object) =>
  (await h.request('POST', `/invoke/${agents[0]?.id}`, { key: client.key, body })).body.data;
const statuses = ({ requests }: { requests: { status: string }[] }) => requests.map(({ status }) => status);
const untilDone = (bulkId: string) =>
  until(async () => {
    const { data } = (await h.request('GET', `/invoke/bulk/${bulkId}`, { key: client.key })).body;
    return data.status === 'processing' ? null : data;
  });

describe('with room for two, a bulk request', () => {
  it('of six starts two; the others wait, their money set aside, and follow one by one as room comes free', async () => {
    const held = holdAll();
    const made = await bulk({});
    expect(statuses(made)).toEqual([...Array(ROOM).fill('processing'), ...Array(AGENTS - ROOM).fill('pending')]);
    expect(made.estimatedCost).toBe('0.30');
    expect(await balanceOf(h, client.key)).toEqual({ available: '9.70', held: '0.30' });
    for (let count = ROOM; count < AGENTS; count++) {
      await held.untilCame(count);
      held.letOneGo();
      await held.untilCame(count + 1);
    }
    held.letOneGo();
    held.letOneGo();
    expect(await untilDone(made.bulkId)).toMatchObject({ status: 'completed', cost: '0.30' });
    expect(held.mostAtOnce()).toBe(ROOM);
  });

  it('of low priority is overtaken by single requests that come later and are more urgent', async () => {
    const held = holdAll();
    const made = await bulk({ priority: 'low' });
    await held.untilCame(ROOM);
    const normal = await single({ task: 'normal' });
    const urgent = await single({ task: 'urgent', priority: 'high' });
    expect([normal.status, urgent.status]).toEqual(['pending', 'pending']);
    for (let count = ROOM; count < AGENTS + 2; count++) {
      held.letOneGo();
      await held.untilCame(count + 1);
    }
    held.letOneGo();
    held.letOneGo();
    expect(held.came.slice(ROOM)).toEqual(['urgent', 'normal', ...Array(AGENTS - ROOM).fill('bulk')]);
    await untilEnded(h, client.key, normal.requestId);
    expect(await untilDone(made.bulkId)).toMatchObject({ status: 'completed' });
  });

  it('that is decided takes what still waits out of the line: those agents never hear of it, their money goes back', async () => {
    const held = holdAll();
    const made = await bulk({ strategy: 'first_success' });
    await held.untilCame(ROOM);
    held.letOneGo();
    const done = await untilDone(made.bulkId);
    expect(done).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(statuses(done).sort()).toEqual([...Array(AGENTS - 1).fill('cancelled'), 'completed']);
    expect(await balanceOf(h, client.key)).toEqual({ available: '9.95', held: '0.00' });
    expect(held.came.length).toBe(ROOM);
  });

  it('past its deadline fails what still waits, and is decided', async () => {
    const { held, done } = await beforeDeadline(1500, async (deadline) => {
      const begun = holdAll();
      const made = await bulk({ deadline });
      const ended = made && (await untilDone(made.bulkId));
      return ended && begun.came.length >= ROOM ? { held: begun, done: ended } : null;
    });
    expect(done).toMatchObject({ status: 'failed', cost: '0.00' });
    expect(held.came.length).toBe(ROOM);
    expect(await balanceOf(h, client.key)).toEqual({ available: '10.00', held: '0.00' });
  });

  it('and others at the same moment, bulk and single, never run more than two', async () => {
    const held = holdAll();
    const all = await Promise.all([
      ...Array.from({ length: 3 }, () => bulk({ priority: 'low' })),
      ...Array.from({ length: 20 }, () => single({ task: 'single' })),
    ]);
    const total = 3 * AGENTS + 20;
    const tookMs = startWatch();
    for (let count = ROOM; count < total; count++) {
      await held.untilCame(count);
      held.letOneGo();
    }
    await held.untilCame(total);
    // Each follows at once when another one ends: by the look that a node takes once a second, all of them would take this long.
    expect(tookMs()).toBeLessThan((total - ROOM) * 500);
    held.letOneGo();
    held.letOneGo();
    for (const { bulkId, requestId } of all)
      if (bulkId) expect(await untilDone(bulkId)).toMatchObject({ status: 'completed' });
      else expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed' });
    expect(held.mostAtOnce()).toBe(ROOM);
  });
});
