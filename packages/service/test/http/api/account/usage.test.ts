import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../../../support/browser.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { recountUse } from '../../../support/recount-use.ts';
import { echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { deposit, newClient, untilEnded } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';

let h: Harness;
let cheap: TestAgent;
let dear: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  [cheap, dear] = await Promise.all([
    startTestAgent(h, { name: 'cheap', perRequest: '0.01' }),
    startTestAgent(h, { name: 'dear', perRequest: '0.5' }),
  ]);
});
afterAll(async () => {
  await Promise.all([cheap.die(), dear.die()]);
  await h.stop();
});

it('tells what was spent by agent and by key, and what the account used of its limits, whoever asks', async () => {
  const owner = await openBrowser(h);
  const { treasuryId } = (await owner.request('POST', '/payments/treasury', { body: {} })).body.data;
  const newKey = async (limits: object) =>
    (
      await owner.request('POST', '/account/keys', {
        body: { name: 'k', scopes: ['invoke', 'payments:read', 'payments:write'], limits },
      })
    ).body.data;
  const limited = await newKey({ perDay: '2' });
  const free = await newKey({});
  const revoked = await newKey({});
  await owner.request('DELETE', `/account/keys/${revoked.keyId}`);
  await deposit(h, free.apiKey, treasuryId, '2');
  const invoke = async (agent: TestAgent, key: string) => {
    const { body } = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } });
    await untilEnded(h, key, body.data.requestId);
  };
  for (const agent of [cheap, cheap, dear]) await invoke(agent, limited.apiKey);
  await invoke(cheap, free.apiKey);

  const { agents, days } = (await owner.request('GET', '/account/usage?days=1')).body.data;
  expect(agents).toEqual([
    { agentId: dear.id, agentName: 'dear', requests: 1, completed: 1, failed: 0, spent: '0.50' },
    { agentId: cheap.id, agentName: 'cheap', requests: 3, completed: 3, failed: 0, spent: '0.03' },
  ]);
  expect(days).toMatchObject([{ requests: 4, completed: 4, spent: '0.53' }]);

  const { keys, limits } = (await owner.request('GET', '/account/keys')).body.data;
  const useOf = ({ keyId }: { keyId: string }) => keys.find((key: { keyId: string }) => key.keyId === keyId).use;
  expect([useOf(limited), useOf(free)]).toEqual([{ spentToday: '0.52' }, { spentToday: null }]);
  expect(limits.invocations).toMatchObject({ limit: 10, used: 4, remaining: 6 });
  expect(limits.api).toMatchObject({ limit: 100 });
  expect((await h.request('GET', '/account/usage', { key: free.apiKey })).body.data.limits.invocations.used).toBe(4);
  expect(useOf(revoked)).toBeNull();
});

it('counts a request from when it was made, once, before and after its end is carried into the sums', async () => {
  const client = await newClient(h, '1');
  const usage = async () => (await h.request('GET', '/account/usage?days=1', { key: client.key })).body.data;
  const answered = Promise.withResolvers<void>();
  cheap.behave((call, response) => answered.promise.then(() => echo(call, response)));
  const { body } = await h.request('POST', `/invoke/${cheap.id}`, { key: client.key, body: { task: 'x' } });
  const [made] = (await usage()).days;
  expect(made).toMatchObject({ requests: 1, completed: 0, spent: '0.00' });
  expect((await usage()).agents).toMatchObject([{ agentId: cheap.id, requests: 1, completed: 0, spent: '0.00' }]);
  answered.resolve();
  await untilEnded(h, client.key, body.data.requestId);
  const ended = await usage();
  expect(ended.days).toMatchObject([{ requests: 1, completed: 1, spent: '0.01' }]);
  expect(ended.agents).toMatchObject([{ requests: 1, completed: 1, spent: '0.01' }]);
  const { pool } = h.ctx.db;
  const isCarried = async () => (await pool.query('select from call_change')).rowCount === 0;
  await until(isCarried);
  const { days, agents } = await usage();
  expect([days, agents]).toEqual([ended.days, ended.agents]);
});

it('the use of agents by day is what their requests add up to, whether carried or not', async () => {
  const read = async () =>
    (await h.ctx.db.pool.query('select * from agent_use order by account_id, day, agent_id')).rows;
  const before = await read();
  expect(before).not.toEqual([]);
  await recountUse(h.databaseUrl);
  expect(await read()).toEqual(before);
});
