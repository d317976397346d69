import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOpenaiUpstream } from '../../../calls/protocols/support/openai-upstream.ts';
import type { TestUpstream } from '../../../calls/protocols/support/upstream.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';

const SECRET = 'Bearer sk-very-secret-9876543210';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
let models: TestUpstream;
beforeAll(async () => {
  h = await startHarness();
  [owner, models] = await Promise.all([h.newAccount(), startOpenaiUpstream()]);
  agent = await startTestAgent(h);
});
afterAll(async () => {
  await Promise.all([agent.die(), models.stop()]);
  await h.stop();
});

const test = (body: object, key: string | undefined = owner.key) =>
  h.request('POST', '/agents/test', { body, ...(key === undefined ? {} : { key }) });
const countAgents = async () => (await h.request('GET', '/account/agents', { key: owner.key })).body.data.total;

it('tells whether an endpoint answers, and registers nothing', async () => {
  const { body } = await test({ endpoint: agent.endpoint });
  expect(body.data).toMatchObject({ callable: true, reason: null, advice: null, status: null, body: null });
  expect(body.data.took).toMatch(/^[\d.]+s$/);
  const refused = (await test({ endpoint: 'http://127.0.0.1:9/' })).body.data;
  expect(refused).toMatchObject({ callable: false, status: null });
  expect(refused.reason).toEqual(expect.any(String));
  expect(refused.advice).toMatch(/^Start the server/);
  expect(await countAgents()).toBe(0);
});

it('tests in the protocol: names the models that there are, and shows no secret', async () => {
  const ask = (model: string) =>
    test({ endpoint: models.endpoint, protocol: 'openai', upstream: { model, headers: { Authorization: SECRET } } });
  expect((await ask('test-model-1')).body.data.callable).toBe(true);
  const { data } = (await ask('gone')).body;
  expect(data.reason).toMatch(/does not list the model "gone"\. It lists .*test-model-1/);
  expect(JSON.stringify(data)).not.toContain('sk-very-secret');
  expect(models.seen.at(-1)?.headers).toMatchObject({ authorization: SECRET });
});

it('refuses what could not be registered, strangers, and more than 60 tests an hour', async () => {
  const field = (answer: Awaited<ReturnType<typeof test>>) => answer.body.error.details.fields[0].path;
  expect(field(await test({ endpoint: 'ftp://agent.example/' }))).toBe('endpoint');
  expect(field(await test({ endpoint: agent.endpoint, protocol: 'openai' }))).toBe('upstream.model');
  const { status } = await h.request('POST', '/agents/test', { body: { endpoint: agent.endpoint } });
  expect(status).toBe(401);
  const reader = await h.newAccount();
  const tests = await Promise.all(Array.from({ length: 61 }, () => test({ endpoint: agent.endpoint }, reader.key)));
  const limited = tests.filter((answer) => answer.status === 429);
  expect(limited).toHaveLength(1);
  expectError(limited[0] as never, 'RATE_LIMITED');
  expect(limited[0]?.body.error.details).toMatchObject({ limit: 60, type: 'endpointTests' });
});
