import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent, untilStatus } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';
import { expectError } from '../support/expect-error.ts';

const clock = fixedClock(new Date());
let h: Harness;
let owner: TestAccount;
const agents: TestAgent[] = [];
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.die()));
});
afterAll(() => h.stop());

async function start(options: Parameters<typeof startTestAgent>[1] = {}): Promise<TestAgent> {
  const agent = await startTestAgent(h, { owner, ...options });
  agents.push(agent);
  return agent;
}

const read = async (id: string) => (await h.request('GET', `/agents/${id}`)).body.data;
const statusOf = async (id: string) => (await h.request('GET', `/agents/${id}/status`)).body.data;

/** Lets the time of one probe pass and waits until this agent was probed: by us or by the node's own round, whichever came first. */
async function probe(id: string): Promise<void> {
  const probes = async () =>
    (await h.ctx.db.pool.query('select probes from agent_totals where agent_id = $1', [id])).rows[0].probes;
  const before = await probes();
  clock.advance(73_000);
  await h.ctx.agentChecks.run();
  const wasProbed = await until(async () => (await probes()) !== before);
  expect(wasProbed).toBe(true);
}

const heartbeat = (agent: TestAgent, body: object) =>
  h.request('POST', `/agents/${agent.id}/heartbeat`, { key: agent.identityToken, body });

describe('probes', () => {
  it('take an agent offline after three misses in a row and back after two answers in a row', async () => {
    const agent = await start();
    await probe(agent.id);
    expect(await read(agent.id)).toMatchObject({ online: true, uptime: 1 });
    const { lastSeen } = await read(agent.id);
    await agent.die();
    for (const expected of [true, true, false]) {
      await probe(agent.id);
      expect(await read(agent.id)).toMatchObject({ online: expected, lastSeen });
    }
    expect((await statusOf(agent.id)).lastPing > lastSeen).toBe(true);
    const list = async (status: string) =>
      (await h.request('GET', `/agents?status=${status}&limit=100`)).body.data.agents.map(
        ({ id }: { id: string }) => id,
      );
    expect(await list('online')).not.toContain(agent.id);
    expect(await list('offline')).toContain(agent.id);
    await agent.revive();
    for (const expected of [false, true]) {
      await probe(agent.id);
      expect((await read(agent.id)).online).toBe(expected);
    }
    expect((await read(agent.id)).uptime).toBeCloseTo(3 / 6, 9);
  });

  it('start to count anew after an answer: two misses, an answer, two misses leave it online', async () => {
    const agent = await start();
    for (const isUp of [false, false, true, false, false]) {
      await (isUp ? agent.revive() : agent.die());
      await probe(agent.id);
      expect((await read(agent.id)).online).toBe(true);
    }
  });

  it.each([
    [405, true],
    [501, true],
    [500, true],
    [502, true],
    [503, false],
  ])(
    'that are answered with %i, by an agent that meets its challenge, leave it online: %j',
    async (probeStatus, isOnline) => {
      const agent = await start({ probeStatus });
      for (let probes = 0; probes < 3; probes++) await probe(agent.id);
      expect((await read(agent.id)).online).toBe(isOnline);
    },
  );

  it('leave the reputation of an agent that stays away lower than before', async () => {
    const agent = await start();
    await probe(agent.id);
    const { reputation } = await read(agent.id);
    await agent.die();
    for (let miss = 0; miss < 3; miss++) await probe(agent.id);
    expect((await read(agent.id)).reputation).toBeLessThan(reputation);
  });
});

describe('a heartbeat', () => {
  it('reports a load that is shown for two minutes', async () => {
    const agent = await start();
    expect((await heartbeat(agent, { load: 0.75 })).body.data).toMatchObject({
      id: agent.id,
      online: true,
      load: 0.75,
    });
    clock.advance(119_000);
    expect((await statusOf(agent.id)).load).toBeCloseTo(0.75, 6);
    clock.advance(2_000);
    expect((await statusOf(agent.id)).load).toBe(0);
  });

  it('takes the agent offline at once, and does not bring it back: two answered probes do', async () => {
    const agent = await start();
    expect((await heartbeat(agent, { accepting: false })).body.data).toMatchObject({ online: false });
    expectError(
      await h.request('POST', `/invoke/${agent.id}`, { key: owner.key, body: { task: 'x' } }),
      'AGENT_UNAVAILABLE',
    );
    await probe(agent.id);
    await probe(agent.id);
    expect((await read(agent.id)).online).toBe(false);
    expect((await heartbeat(agent, {})).body.data).toMatchObject({ online: false });
    expect((await heartbeat(agent, { accepting: true })).body.data).toMatchObject({ online: false });
    await untilStatusByProbes(agent.id);
  });

  it('does not bring up an agent that does not answer, nor one that is pending', async () => {
    const [dead, pending] = [await start(), await start({ provesItself: false })];
    await dead.die();
    for (let miss = 0; miss < 3; miss++) await probe(dead.id);
    for (const agent of [dead, pending])
      expect((await heartbeat(agent, { load: 0, accepting: true })).body.data).toMatchObject({ online: false });
    expect((await read(pending.id)).status).toBe('pending_verification');
  });

  async function untilStatusByProbes(id: string): Promise<void> {
    await probe(id).catch(() => undefined);
    await probe(id).catch(() => undefined);
    await untilStatus(h, id, 'online');
  }
});
