import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent, untilStatus } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let owner: TestAccount;
let stranger: TestAccount;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  [owner, stranger] = await Promise.all([h.newAccount(), h.newAccount()]);
  agent = await startTestAgent(h, { owner, perRequest: '0.05', capabilities: ['first', 'second'] });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const update = (body: object, { id = agent.id, key = owner.key } = {}) =>
  h.request('PUT', `/agents/${id}`, { key, body });
const read = async (id = agent.id) => (await h.request('GET', `/agents/${id}`)).body.data;
const idsWith = async (capability: string) =>
  (await h.request('GET', `/agents?capability=${capability}`)).body.data.agents.map(({ id }: { id: string }) => id);

describe('an update', () => {
  it.each([
    ['name', { name: 'New name' }],
    ['description', { description: 'New description.' }],
    ['capabilities', { capabilities: ['first', 'third'] }],
    ['rates', { rates: { perHour: '7.25' } }],
    ['rates', { rates: { tiers: { premium: '9' } } }],
    ['metadata', { metadata: { tags: ['new'] } }],
    ['exampleQuestions', { exampleQuestions: ['Where is my parcel?', 'When does it arrive?'] }],
  ])('of %s changes that and nothing else, and names it', async (name, body) => {
    const before = await read();
    const { data } = (await update(body)).body;
    expect(data).toEqual({ id: agent.id, updated: [name], updatedAt: expect.any(String) });
    const { updatedAt, slug, ...after } = await read();
    expect([updatedAt, slug]).toEqual([data.updatedAt, name === 'name' ? 'new-name' : before.slug]);
    const { updatedAt: _, slug: _slug, ...unchanged } = before;
    expect(after).toMatchObject(body);
    expect({ ...after, [name]: null }).toEqual({ ...unchanged, [name]: null });
  });

  it('that says what is already so changes nothing and names nothing', async () => {
    const before = await read();
    const { name, description, capabilities, metadata, endpoint } = before;
    const same = {
      name,
      description,
      capabilities,
      metadata,
      endpoint,
      rates: { perRequest: '0.05', perHour: '7.25', tiers: { premium: '9' } },
    };
    const digest = await databaseDigest(h);
    expect((await update(same)).body.data).toEqual({ id: agent.id, updated: [], updatedAt: before.updatedAt });
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('of one field of the metadata keeps the others, the price by units too; null removes one', async () => {
    const perUnit = { price: '0.5', unit: 'page', count: '/pages', measure: 'number', maximum: '20' };
    const website = 'https://agent.example/';
    await update({ metadata: { website, perUnit } });
    const { data } = (await update({ metadata: { tags: ['newest'] } })).body;
    expect(data.updated).toEqual(['metadata']);
    expect((await read()).metadata).toEqual({ website, perUnit, tags: ['newest'] });
    const input = { task: 'x', input: { pages: 3 } };
    const quote = await h.request('POST', `/invoke/${agent.id}/quote`, { key: stranger.key, body: input });
    expect(quote.body.data).toMatchObject({ estimatedCost: '1.50', breakdown: { units: { count: 3 } } });
    expect((await update({ metadata: { perUnit: null } })).body.data.updated).toEqual(['metadata']);
    expect((await read()).metadata).toEqual({ website, tags: ['newest'] });
  });

  it('of the example questions changes what searches find, and null or an empty list removes them', async () => {
    const found = async (text: string) =>
      (await h.request('POST', '/agents/search', { body: { query: { text } } })).body.data.agents.map(
        ({ id }: { id: string }) => id,
      );
    expect(await found('parcel')).toEqual([agent.id]);
    for (const none of [null, []]) {
      expect((await update({ exampleQuestions: none })).body.data.updated).toEqual(['exampleQuestions']);
      expect((await read()).exampleQuestions).toEqual([]);
      expect(await found('parcel')).toEqual([]);
      await update({ exampleQuestions: ['Where is my parcel?', '  When does it arrive? '] });
      expect(await found('parcel')).toEqual([agent.id]);
    }
    const file = (await h.request('GET', `/agents/${agent.id}/registration.json`)).body;
    expect(file.agentNetwork.exampleQuestions).toEqual(['Where is my parcel?', 'When does it arrive?']);
    for (const bad of [['one'], ['a', 'a'], ['a', ' '], ['a', 'b'.repeat(201)], [...'abcdef'], 'text'])
      expectError(await update({ exampleQuestions: bad }), 'VALIDATION_ERROR');
  });

  it('of several fields names those that changed', async () => {
    const { data } = (await update({ name: 'New name', description: 'Other.', rates: { perRequest: '0.06' } })).body;
    expect([...data.updated].sort()).toEqual(['description', 'rates']);
    await update({ rates: { perRequest: '0.05' } });
  });

  it('moves the agent in the list', async () => {
    expect(await idsWith('second')).not.toContain(agent.id);
    expect(await idsWith('third')).toContain(agent.id);
    await update({ rates: { perRequest: '3' } });
    const { agents } = (await h.request('GET', '/agents?capability=third&maxPrice=2.999999')).body.data;
    expect(agents).toEqual([]);
    await update({ rates: { perRequest: '0.05' } });
  });

  it('by another account, without a key, or without valid fields is refused and changes nothing', async () => {
    const digest = await databaseDigest(h);
    expectError(await update({ name: 'Stolen' }, stranger), 'FORBIDDEN');
    expectError(await h.request('PUT', `/agents/${agent.id}`, { body: { name: 'x' } }), 'UNAUTHORIZED');
    for (const body of [
      {},
      { unknown: 1 },
      { id: 'agt_0', owner: stranger.address, reputation: 1000, status: 'online', verified: true },
    ])
      expectError(await update(body), 'VALIDATION_ERROR');
    expectError(await update({ name: 'Half', rates: { perRequest: '-1' } }), 'VALIDATION_ERROR', 'rates.perRequest');
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('of the endpoint takes the agent out until the new one is proven', async () => {
    const mover = await startTestAgent(h, { owner });
    const imposter = await startTestAgent(h, { owner, provesItself: false });
    expect(await read(mover.id)).toMatchObject({ verified: true, online: true });
    const { data } = (await update({ endpoint: imposter.endpoint }, { id: mover.id, key: owner.key })).body;
    expect(data.updated).toEqual(['endpoint']);
    expect(await read(mover.id)).toMatchObject({ verified: false, online: false, status: 'pending_verification' });
    const call = await h.request('POST', `/invoke/${mover.id}`, { key: stranger.key, body: { task: 'x' } });
    expectError(call, 'AGENT_UNAVAILABLE');
    const verify = () =>
      h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: mover.id, proof: 'endpoint' } });
    expect((await verify()).body.data).toMatchObject({
      verified: false,
      status: 'pending_verification',
      reason: expect.stringContaining('identityToken'),
    });
    expect(imposter.calls).toEqual([]);
    await update({ endpoint: mover.endpoint }, { id: mover.id, key: owner.key });
    await untilStatus(h, mover.id, 'online');
    expect(await read(mover.id)).toMatchObject({ verified: true });
    await Promise.all([mover.die(), imposter.die()]);
  });
});

describe('a removal', () => {
  it('is final: not listed, not found, not invoked, not updated, its token dead, and the block is the head of the chain', async () => {
    const gone = await startTestAgent(h, { owner, capabilities: ['gone'] });
    const headBefore = await h.ctx.usdc.headBlock();
    const { data } = (await h.request('DELETE', `/agents/${gone.id}`, { key: owner.key })).body;
    expect(data).toMatchObject({ id: gone.id, unregistered: true });
    expect(data.finalBlock).toBeGreaterThanOrEqual(Number(headBefore));
    expect(data.finalBlock).toBeLessThanOrEqual(Number(await h.ctx.usdc.headBlock()));
    expect(await idsWith('gone')).toEqual([]);
    const { key } = owner;
    const calls = [
      h.request('GET', `/agents/${gone.id}`),
      h.request('GET', `/agents/${gone.id}/status`),
      h.request('PUT', `/agents/${gone.id}`, { key, body: { name: 'x' } }),
      h.request('DELETE', `/agents/${gone.id}`, { key }),
      h.request('POST', `/invoke/${gone.id}`, { key, body: { task: 'x' } }),
      h.request('POST', `/invoke/${gone.id}/quote`, { key, body: { task: 'x' } }),
      h.request('POST', '/identity/verify', { key, body: { agentId: gone.id, proof: 'endpoint' } }),
    ];
    for (const answer of await Promise.all(calls)) expectError(answer, 'NOT_FOUND');
    expectError(await h.request('GET', '/account', { key: gone.identityToken }), 'UNAUTHORIZED');
    await gone.die();
  });

  it('by another account is refused', async () => {
    const digest = await databaseDigest(h);
    expectError(await h.request('DELETE', `/agents/${agent.id}`, { key: stranger.key }), 'FORBIDDEN');
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('of the same agent many times at once happens once', async () => {
    const gone = await startTestAgent(h, { owner });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => h.request('DELETE', `/agents/${gone.id}`, { key: owner.key })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
    await gone.die();
  });

  it('lets a call that is running come to its end', async () => {
    const busy = await startTestAgent(h, { owner, perRequest: '0' });
    const answer = Promise.withResolvers<void>();
    busy.behave(async (_request, response) => {
      await answer.promise;
      response.end(JSON.stringify({ result: 'done' }));
    });
    const running = h.request('POST', `/invoke/${busy.id}`, {
      key: owner.key,
      body: { task: 'x' },
      headers: { 'x-sync': 'true' },
    });
    await until(async () => busy.calls.length > 0);
    await h.request('DELETE', `/agents/${busy.id}`, { key: owner.key });
    answer.resolve();
    expect((await running).body.data).toMatchObject({ status: 'completed', result: 'done' });
    await busy.die();
  });
});
