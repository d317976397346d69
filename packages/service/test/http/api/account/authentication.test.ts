import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../../src/accounts/api-key.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

const clock = fixedClock(new Date());
let h: Harness;
let agent: TestAgent;
let owner: { key: string; accountId: string; address: string };
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const account = (authorization: string) => h.request('GET', '/account', { headers: { authorization } });

describe('an Authorization header', () => {
  it.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    'Token x',
    'Bearer a b',
    'Bearer ü',
    `Bearer ${'x'.repeat(201)}`,
  ])('%j is no key', async (authorization) => expectError(await account(authorization), 'UNAUTHORIZED'));

  it('is refused for every change of a good key', async () => {
    const { key } = owner;
    const changed = [
      key.slice(1),
      key.slice(0, -1),
      `${key}x`,
      key.toUpperCase(),
      key.replace('test', 'live'),
      ` ${key}x`,
    ];
    for (let at = 9; at < key.length; at += 7)
      changed.push(key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1));
    for (const wrong of changed) expectError(await account(`Bearer ${wrong}`), 'UNAUTHORIZED');
  });

  it('takes the scheme in any case, as RFC 9110 has it', async () => {
    for (const scheme of ['bearer', 'BEARER']) expect((await account(`${scheme} ${owner.key}`)).status).toBe(200);
  });

  it('with a well-formed but unknown key is refused, also where a key is optional', async () => {
    const { key } = newApiKey('test');
    for (const path of ['/account', '/agents', `/agents/${agent.id}`])
      expectError(await h.request('GET', path, { key }), 'UNAUTHORIZED');
  });

  it('with the public id of a key and another secret is refused', async () => {
    const stranger = newApiKey('test');
    const id = owner.key.split('_')[2] ?? '';
    expectError(await account(`Bearer ${stranger.key.replace(stranger.id, id)}`), 'UNAUTHORIZED');
  });
});

describe('a key that has come to its end', () => {
  const newKey = async (body: object) =>
    (await h.request('POST', '/account/keys', { key: owner.key, body: { name: 'short', ...body } })).body.data;

  it('is refused at once when it is revoked, though it was in use', async () => {
    const { keyId, apiKey } = await newKey({});
    expect((await account(`Bearer ${apiKey}`)).status).toBe(200);
    expect((await h.request('DELETE', `/account/keys/${keyId}`, { key: owner.key })).body.data).toEqual({
      keyId,
      revoked: true,
    });
    expectError(await account(`Bearer ${apiKey}`), 'UNAUTHORIZED');
  });

  it('is refused from the moment it expires, though it was in use', async () => {
    const expiresAt = new Date(clock.now().getTime() + 60_000).toISOString();
    const { apiKey } = await newKey({ expiresAt });
    clock.advance(59_999);
    expect((await account(`Bearer ${apiKey}`)).status).toBe(200);
    clock.advance(1);
    expectError(await account(`Bearer ${apiKey}`), 'UNAUTHORIZED');
  });

  it('is refused when its agent was removed', async () => {
    const gone = await startTestAgent(h, { owner });
    const heartbeat = () => h.request('POST', `/agents/${gone.id}/heartbeat`, { key: gone.identityToken, body: {} });
    expect((await heartbeat()).status).toBe(200);
    await h.request('DELETE', `/agents/${gone.id}`, { key: owner.key });
    expectError(await heartbeat(), 'UNAUTHORIZED');
    await gone.die();
  });
});

describe('an identityToken', () => {
  it.each([
    [
      'POST',
      '/agents',
      { name: 'x', capabilities: ['x'], rates: { perRequest: '1' }, endpoint: 'http://127.0.0.1:1/' },
    ],
    ['GET', '/account/keys', undefined],
    ['POST', '/account/keys', { name: 'x' }],
    ['POST', '/payments/treasury', {}],
    ['POST', '/payments/treasury/deposit', { amount: '1' }],
    ['POST', '/identity/verify', { agentId: 'agt_0123456789', proof: 'endpoint' }],
  ])('cannot %s %s', async (method, path, body) => {
    const digest = await databaseDigest(h);
    expectError(await h.request(method, path, { key: agent.identityToken, body }), 'FORBIDDEN');
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('cannot change, remove or verify its own agent, nor report for another', async () => {
    const other = await startTestAgent(h, { owner });
    const digest = await databaseDigest(h);
    const { identityToken: key } = agent;
    expectError(await h.request('PUT', `/agents/${agent.id}`, { key, body: { name: 'x' } }), 'FORBIDDEN');
    expectError(await h.request('DELETE', `/agents/${agent.id}`, { key }), 'FORBIDDEN');
    expectError(
      await h.request('POST', `/agents/${other.id}/heartbeat`, { key, body: { accepting: false } }),
      'FORBIDDEN',
    );
    expect(await databaseDigest(h)).toEqual(digest);
    await other.die();
  });

  it('in another case, cut, or of another agent that does not exist is refused', async () => {
    const { identityToken } = agent;
    for (const key of [identityToken.toUpperCase(), identityToken.slice(0, -1), `0x${'ab'.repeat(32)}`])
      expectError(await h.request('GET', '/account', { key }), 'UNAUTHORIZED');
  });

  it('sees its own money and requests only', async () => {
    const mine = await h.request('GET', '/payments/balance', { key: agent.identityToken });
    expect(mine.body.data.treasuries.map((each: { agentId: string }) => each.agentId)).toEqual([agent.id]);
    const free = await startTestAgent(h, { perRequest: '0' });
    const invoke = (key: string) =>
      h.request('POST', `/invoke/${free.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
    const [byAgent, byAccount] = [(await invoke(agent.identityToken)).body.data, (await invoke(owner.key)).body.data];
    const read = (requestId: string, key: string) => h.request('GET', `/invoke/${requestId}`, { key });
    expect((await read(byAgent.requestId, agent.identityToken)).status).toBe(200);
    expect((await read(byAgent.requestId, owner.key)).status).toBe(200);
    expectError(await read(byAccount.requestId, agent.identityToken), 'NOT_FOUND');
    expect(byAgent).toMatchObject({ agent_id: free.id, completion_time: expect.stringMatching(/s$/) });
    await free.die();
  });
});
