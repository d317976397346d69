import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
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
afterEach(() => Promise.all(agents.splice(0).map((agent) => agent.die())));
afterAll(() => h.stop());

async function start(options: Parameters<typeof startTestAgent>[1] = {}): Promise<TestAgent> {
  const agent = await startTestAgent(h, { owner, ...options });
  agents.push(agent);
  return agent;
}

const read = async (id: string) => (await h.request('GET', `/agents/${id}`)).body.data;
const statusOf = async (id: string) => (await h.request('GET', `/agents/${id}/status`)).body.data;

describe('an agent that cannot be invoked', () => {
  it('returns alternatives, most similar first', async () => {
    const skills = ['alike-a', 'alike-b', 'alike-c', 'alike-d'];
    const wanted = await start({ capabilities: skills, perRequest: '0.05', provesItself: false });
    const twin = await start({ capabilities: skills, perRequest: '0.05' });
    const dear = await start({ capabilities: skills, perRequest: '5' });
    const half = await start({ capabilities: skills.slice(0, 2), perRequest: '0.05' });
    const few = await Promise.all(
      [1, 2, 3].map(() => start({ capabilities: ['alike-a', 'x', 'y'], perRequest: '0.05' })),
    );
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

  it('is answered with agents that share words when few share capabilities, behind those that do', async () => {
    const wanted = await start({
      name: 'Quixotic translator',
      capabilities: ['rare-1', 'rare-2'],
      provesItself: false,
    });
    const colleague = await start({ name: 'Somebody', capabilities: ['rare-2', 'x', 'y', 'z'] });
    const namesake = await start({ name: 'Quixotic painter', capabilities: ['painting'] });
    await start({ name: 'Quixotic sleeper', capabilities: ['painting'], provesItself: false });
    const { alternatives } = (await h.request('POST', `/invoke/${wanted.id}`, { key: owner.key, body: { task: 'x' } }))
      .body.error;
    const ids = alternatives.map((each: { agentId: string }) => each.agentId);
    expect(ids.slice(0, 2)).toEqual([colleague.id, namesake.id]);
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
    const invoke = () =>
      h.request('POST', `/invoke/${agent.id}`, { key: owner.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
    const gate = Promise.withResolvers<void>();
    agent.behave(async (_request, response) => {
      await gate.promise;
      response.end('{"result":1}');
    });
    const running = [invoke(), invoke(), invoke(), invoke()];
    await until(async () => agent.calls.length === 4);
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
