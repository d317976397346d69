import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkDueAgents } from '../../../src/agents/check-agents.ts';
import { fixedClock } from '../../../src/lib/clock.ts';
import { until } from '../../../src/lib/until.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent, untilStatus } from '../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';

const clock = fixedClock(new Date());
let h: Harness;
let owner: TestAccount;
const agents: TestAgent[] = [];
const servers: Server[] = [];
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.die()));
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
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
  const probes = async () => (await h.ctx.db.pool.query('select probes from agent_totals where agent_id = $1', [id])).rows[0].probes;
  const before = await probes();
  clock.advance(73_000);
  await checkDueAgents(h.ctx);
  const wasProbed = await until(async () => ((await probes()) !== before ? true : null), { timeoutMs: 6000, firstMs: 5, mostMs: 50 });
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
      (await h.request('GET', `/agents?status=${status}&limit=100`)).body.data.agents.map(({ id }: { id: string }) => id);
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
    expect((await heartbeat(agent, { load: 0.75 })).body.data).toMatchObject({ id: agent.id, online: true, load: 0.75 });
    clock.advance(119_000);
    expect((await statusOf(agent.id)).load).toBeCloseTo(0.75, 6);
    clock.advance(2_000);
    expect((await statusOf(agent.id)).load).toBe(0);
  });

  it('takes the agent offline at once, and does not bring it back: two answered probes do', async () => {
    const agent = await start();
    expect((await heartbeat(agent, { accepting: false })).body.data).toMatchObject({ online: false });
    expectError(await h.request('POST', `/invoke/${agent.id}`, { key: owner.key, body: { task: 'x' } }), 'AGENT_UNAVAILABLE');
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

describe('an endpoint proof', () => {
  /** An endpoint that answers everything in the same way, with a well-known file that a test fills in. */
  async function startSite(answerStatus: number): Promise<{ url: string; file: { text: string } }> {
    const file = { text: '' };
    const server = createServer((request, response) => {
      const isFile = request.url === '/.well-known/agent-registration.json';
      response.writeHead(isFile && file.text !== '' ? 200 : answerStatus, { 'content-type': 'application/json' });
      response.end(isFile ? file.text : '{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/deep/agent?x=1`, file };
  }

  const register = async (endpoint: string) =>
    (await h.request('POST', '/agents', { key: owner.key, body: { name: 'Site', capabilities: ['x'], rates: { perRequest: '0' }, endpoint } })).body.data.id;
  const verify = async (agentId: string) =>
    (await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId, proof: 'endpoint' } })).body.data;

  it('can be a well-known file on the origin that names the agent', async () => {
    const site = await startSite(404);
    const id = await register(site.url);
    expect(await verify(id)).toMatchObject({ verified: false, status: 'pending_verification', reason: expect.stringContaining('404') });
    for (const text of ['{', '[]', 'null', '{"registrations":{}}', '{"registrations":[null,5]}', '{"registrations":[{"agentId":"agt_other"}]}']) {
      site.file.text = text;
      expect((await verify(id)).verified).toBe(false);
    }
    site.file.text = JSON.stringify({ registrations: [{ agentId: 'agt_other' }, { agentId: id }] });
    expect(await verify(id)).toEqual({ agentId: id, proof: 'endpoint', verified: true, status: 'online', reason: null });
  });

  it('gives a reason that helps the owner and tells nothing of addresses', async () => {
    const site = await startSite(500);
    const answered = await verify(await register(site.url));
    expect(answered.reason).toBe('The endpoint answered the challenge with status 500.');
    const closedPort = await verify(await register('http://127.0.0.1:9/'));
    expect(closedPort).toMatchObject({ verified: false });
    expect(closedPort.reason).not.toMatch(/127|ECONN|refused|:9/);
  });

  it('is tried at once, after 1, 5 and 30 minutes, 2 and 12 hours, and then only on demand', async () => {
    const id = await register('http://127.0.0.1:9/');
    const row = async () => (await h.ctx.db.pool.query('select checks_done as done, next_check_at as next from agent where id = $1', [id])).rows[0];
    const untilDone = (done: number) =>
      until(async () => ((await row()).done === done && (await row()).next !== undefined ? true : null), { timeoutMs: 5000, firstMs: 5, mostMs: 50 });
    for (const [index, minutes] of [1, 5, 30, 120, 720].entries()) {
      expect(await untilDone(index + 1)).toBe(true);
      expect(((await row()).next.getTime() - clock.now().getTime()) / 60_000).toBe(minutes);
      clock.advance(minutes * 60_000);
      await checkDueAgents(h.ctx);
    }
    expect(await untilDone(6)).toBe(true);
    expect((await row()).next).toBeNull();
    await verify(id);
    expect(await row()).toEqual({ done: 7, next: null });
  });

  it('of an agent of another account cannot be asked for', async () => {
    const agent = await start();
    const { key } = await h.newAccount();
    expectError(await h.request('POST', '/identity/verify', { key, body: { agentId: agent.id, proof: 'endpoint' } }), 'FORBIDDEN');
  });

  it('does not make the agent of an unproven wallet verified', async () => {
    const unproven = await h.newAccount({ isWalletProven: false });
    const agent = await start({ owner: unproven });
    expect(await read(agent.id)).toMatchObject({ online: true, verified: false });
  });
});

describe('an agent that cannot be invoked', () => {
  it('is answered with others that could stand in, the most alike first', async () => {
    const skills = ['alike-a', 'alike-b', 'alike-c', 'alike-d'];
    const wanted = await start({ capabilities: skills, perRequest: '0.05', provesItself: false });
    const twin = await start({ capabilities: skills, perRequest: '0.05' });
    const dear = await start({ capabilities: skills, perRequest: '5' });
    const half = await start({ capabilities: skills.slice(0, 2), perRequest: '0.05' });
    const few = await Promise.all([1, 2, 3].map(() => start({ capabilities: ['alike-a', 'x', 'y'], perRequest: '0.05' })));
    await start({ capabilities: skills, provesItself: false });
    await start({ capabilities: ['something-else'] });
    const answer = await h.request('POST', `/invoke/${wanted.id}`, { key: owner.key, body: { task: 'x' } });
    expectError(answer, 'AGENT_UNAVAILABLE');
    const { agentId, lastSeen, alternatives } = answer.body.error;
    expect(agentId).toBe(wanted.id);
    expect(Date.parse(lastSeen)).toBeLessThanOrEqual(clock.now().getTime());
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    const ids = alternatives.map((each: { agentId: string }) => each.agentId);
    expect(ids.slice(0, 3)).toEqual([twin.id, dear.id, half.id]);
    expect(ids).toHaveLength(5);
    for (const id of ids.slice(3)) expect(few.map((agent) => agent.id)).toContain(id);
    const similarities = alternatives.map((each: { similarity: number }) => each.similarity);
    expect(similarities).toEqual([...similarities].sort((a, b) => b - a));
    expect(wanted.calls).toEqual([]);
  });

  it('may still be quoted', async () => {
    const pending = await start({ provesItself: false, perRequest: '0.07' });
    const { body } = await h.request('POST', `/invoke/${pending.id}/quote`, { key: owner.key, body: { task: 'x' } });
    expect(body.data).toMatchObject({ estimatedCost: '0.07' });
  });
});

describe('the figures of an agent', () => {
  it('come from its calls: total, share of successes, average time, and load while calls run', async () => {
    const agent = await start({ perRequest: '0' });
    const invoke = () => h.request('POST', `/invoke/${agent.id}`, { key: owner.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
    const gate = Promise.withResolvers<void>();
    agent.behave(async (_request, response) => {
      await gate.promise;
      response.end('{"result":1}');
    });
    const running = [invoke(), invoke(), invoke(), invoke()];
    await until(async () => (agent.calls.length === 4 ? true : null), { timeoutMs: 5000, firstMs: 2, mostMs: 20 });
    expect((await statusOf(agent.id)).load).toBe(4 / 32);
    clock.advance(2_000);
    gate.resolve();
    await Promise.all(running);
    expect((await statusOf(agent.id)).load).toBe(0);
    expect(await read(agent.id)).toMatchObject({ totalRequests: 4, successRate: 1, avgResponseTime: '2s' });
    agent.behave(answerWith(500, {}));
    await invoke();
    expect(await read(agent.id)).toMatchObject({ totalRequests: 5, successRate: 0.8 });
  });
});
