import { callChain } from '@agent-network/chain/chain-rpc-client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../../src/accounts/open-account.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startProxiedHarness } from '../../../support/proxied-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let agent: TestAgent;
let owner: Awaited<ReturnType<typeof unprovenOwner>>;
let stranger: TestAccount;
const clock = fixedClock(new Date());

beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await unprovenOwner();
  stranger = await h.newAccount();
  agent = await startTestAgent(h, { owner });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** An account that has not proven its wallet, with the wallet. */
async function unprovenOwner({ ctx }: Pick<Harness, 'ctx'> = h) {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const account = await openAccount(ctx, { address: wallet.address, plan: 'enterprise', isWalletProven: false });
  const scopes = ['agents:write', 'invoke'] as const;
  const { apiKey: key } = await issueApiKey(ctx, {
    accountId: account.accountId,
    name: 'test',
    scopes,
    expiresAt: null,
  });
  return { ...account, key, wallet };
}

const verify = (body: unknown, key = owner.key) => h.request('POST', '/identity/verify', { key, body });
const identity = async (id: string) => (await h.request('GET', `/identity/${id}`)).body.data;
const challenge = async (agentId: string, key = owner.key) =>
  (await verify({ agentId, proof: 'wallet' }, key)).body.data;
const garbage = `0x${'ab'.repeat(64)}1b`;
const verifiedTotal = async (verified: boolean, capability: string) =>
  (await h.request('POST', '/agents/search', { body: { query: { verified, capabilities: { all: [capability] } } } }))
    .body.data.total;

describe('an identity', () => {
  it('tells who the agent is, and what is proven', async () => {
    expect(await identity(agent.id)).toMatchObject({
      id: agent.id,
      name: 'Test agent',
      owner: owner.address,
      capabilities: ['testing'],
      serviceEndpoint: agent.endpoint,
      verified: false,
      proofs: { endpoint: expect.any(String), wallet: null },
      metadata: {},
      onChain: null,
    });
    expect((await identity(agent.id)).rates).toEqual(
      ['default', 'basic', 'premium', 'enterprise'].map((name) => ({
        name,
        perRequest: '0.05',
        perHour: name === 'default' ? '0.05' : null,
        currency: 'USDC',
        network: 'base-sepolia',
      })),
    );
  });

  it('of an unknown agent is not found', async () => {
    expectError(await h.request('GET', '/identity/agt_nobody'), 'NOT_FOUND');
  });
});

describe('the endpoint proof', () => {
  it('is made on demand for the owner', async () => {
    expect((await verify({ agentId: agent.id, proof: 'endpoint' })).body.data).toMatchObject({
      proof: 'endpoint',
      status: 'online',
      reason: null,
    });
  });

  it('is not for strangers, agents, or keys without the scope', async () => {
    const weak = await h.newAccount({ scopes: ['invoke'] });
    for (const proof of ['endpoint', 'wallet']) {
      expectError(await verify({ agentId: agent.id, proof }, stranger.key), 'FORBIDDEN');
      expectError(await verify({ agentId: agent.id, proof }, agent.identityToken), 'FORBIDDEN');
      expectError(await verify({ agentId: agent.id, proof }, weak.key), 'FORBIDDEN');
      expectError(await verify({ agentId: 'agt_nobody', proof }), 'NOT_FOUND');
    }
  });
});

describe('a wallet challenge', () => {
  it('is a SIWE text of this node, chain and agent, good for five minutes', async () => {
    const given = await challenge(agent.id);
    const { host } = new URL(h.baseUrl);
    const parsed = parseSiweMessage(given.message);
    expect(parsed).toMatchObject({
      domain: host,
      uri: `${h.baseUrl}/identity/verify`,
      version: '1',
      chainId: 84532,
      nonce: given.nonce,
      requestId: agent.id,
      resources: [`urn:agent:${agent.id}`],
      issuedAt: clock.now(),
      expirationTime: new Date(given.expiresAt),
    });
    expect(parsed.address?.toLowerCase()).toBe(owner.address);
    expect(parsed.statement).toContain(agent.id);
    expect(new Date(given.expiresAt).getTime() - clock.now().getTime()).toBe(300_000);
    const address = owner.wallet.address;
    expect(validateSiweMessage({ message: parsed, address, domain: host, nonce: given.nonce, time: clock.now() })).toBe(
      true,
    );
    expect((await challenge(agent.id)).nonce).not.toBe(given.nonce);
  });

  it('does not believe the Host header', async () => {
    const { body } = await h.request('POST', '/identity/verify', {
      key: owner.key,
      body: { agentId: agent.id, proof: 'wallet' },
      headers: { 'x-forwarded-host': 'evil.example' },
    });
    expect(body.data.message).not.toContain('evil');
  });

  it('is not worn out by garbage, but by five wrong signatures', async () => {
    const { challengeId, message } = await challenge(agent.id);
    const other = privateKeyToAccount(generatePrivateKey());
    const wrong = [
      garbage,
      await other.signMessage({ message }),
      await owner.wallet.signMessage({ message: `${message} ` }),
      '0x00',
      '0x'.padEnd(8000, '0'),
    ];
    for (const signature of wrong)
      expectError(await verify({ challengeId, signature }), 'VALIDATION_ERROR', 'signature');
    const signature = await owner.wallet.signMessage({ message });
    expectError(await verify({ challengeId, signature }), 'CONFLICT');
    expect((await identity(agent.id)).verified).toBe(false);
  });

  it('is of no use to another account, and cannot be worn out by one', async () => {
    const { challengeId, message } = await challenge(agent.id);
    for (let time = 0; time < 6; time++)
      expectError(await verify({ challengeId, signature: garbage }, stranger.key), 'NOT_FOUND');
    const signature = await owner.wallet.signMessage({ message });
    expectError(await verify({ challengeId, signature }, stranger.key), 'NOT_FOUND');
    expectError(await verify({ challengeId: 'chl_nobody', signature }), 'NOT_FOUND');
  });

  it('expires', async () => {
    const { challengeId, message } = await challenge(agent.id);
    const signature = await owner.wallet.signMessage({ message });
    clock.advance(300_000);
    expectError(await verify({ challengeId, signature }), 'CONFLICT');
  });

  it('that is signed proves the wallet, once, for every agent of the account and in every list', async () => {
    const second = await startTestAgent(h, { owner, capabilities: ['testing', 'second'] });
    expect([await verifiedTotal(true, 'testing'), await verifiedTotal(false, 'testing')]).toEqual([0, 2]);
    const { challengeId, message } = await challenge(agent.id);
    expectError(await verify({ challengeId, signature: garbage }), 'VALIDATION_ERROR', 'signature');
    const signature = await owner.wallet.signMessage({ message });
    const answers = await Promise.all(Array.from({ length: 4 }, () => verify({ challengeId, signature })));
    const [passed, ...refused] = answers.toSorted((a, b) => a.status - b.status);
    expect(passed?.body.data).toEqual({
      agentId: agent.id,
      proof: 'wallet',
      verified: true,
      owner: owner.address,
      method: 'eip191',
      identityToken: null,
      verifiedAt: clock.now().toISOString(),
    });
    for (const each of refused) expectError(each, 'CONFLICT');
    for (const { id } of [agent, second])
      expect(await identity(id)).toMatchObject({ verified: true, proofs: { wallet: clock.now().toISOString() } });
    expect([await verifiedTotal(true, 'testing'), await verifiedTotal(false, 'testing')]).toEqual([2, 0]);
    expect((await h.request('GET', '/account', { key: owner.key })).body.data.walletProven).toBe(true);
    await second.die();
  });

  it('gives the owner a new identityToken, and leaves the agent its headers and its past calls', async () => {
    const account = await unprovenOwner();
    const { accountId } = account;
    const its = await startTestAgent(h, { owner: account, perRequest: '0', capabilities: ['renewed'] });
    const reader = { accountId, name: 'reader', scopes: ['payments:read'], expiresAt: null } as const;
    const { apiKey } = await issueApiKey(h.ctx, reader);
    const upstream = { headers: { 'X-Team': 'blue' } };
    await h.request('PUT', `/agents/${its.id}`, { key: account.key, body: { upstream } });
    const call = { key: account.key, body: { task: 'before' }, headers: { 'x-sync': 'true' } };
    expect((await h.request('POST', `/invoke/${its.id}`, call)).body.data.status).toBe('completed');
    clock.advance(1000);
    const { challengeId, message } = await challenge(its.id, account.key);
    const signature = await account.wallet.signMessage({ message });
    const { body } = await verify({ challengeId, signature, newIdentityToken: true }, account.key);
    expect(body.data.identityToken).toMatch(/^0x[0-9a-f]{64}$/);
    const own = await h.request('GET', `/account/agents?agentId=${its.id}`, { key: apiKey });
    expect(own.body.data.agents[0].upstream.headers).toEqual({ 'X-Team': '***' });
    const { calls } = (await h.request('GET', `/agents/${its.id}/calls`, { key: apiKey })).body.data;
    expect(calls).toHaveLength(1);
    await its.die();
  });

  it.each([
    ['says yes', '0x631626ba7e60e01b60005260206000f3', 'eip1271'],
    ['says no', '0x63ffffffff60e01b60005260206000f3', null],
    ['reverts', '0x60006000fd', null],
    ['burns all gas', '0x5b600056', null],
    ['answers with nothing', '0x00', null],
  ])('signed by a contract wallet that %s', async (_name, code, method) => {
    const account = await unprovenOwner();
    const its = await startTestAgent(h, { owner: account });
    await callChain(h.rpcUrl, 'anvil_setCode', account.address, code);
    const { challengeId } = await challenge(its.id, account.key);
    const answer = await verify({ challengeId, signature: '0x1234' }, account.key);
    if (method) expect(answer.body.data).toMatchObject({ verified: true, method });
    else expectError(answer, 'VALIDATION_ERROR', 'signature');
    await its.die();
  });

  it.each([
    [{}],
    [{ agentId: 'agt_x' }],
    [{ agentId: 'agt_x', proof: 'face' }],
    [{ challengeId: 'chl_x' }],
    [{ challengeId: 'chl_x', signature: 'abc' }],
    [{ challengeId: 'chl_x', signature: '0xabc' }],
    [{ challengeId: 'chl_x', signature: `0x${'00'.repeat(4097)}` }],
    [{ challengeId: 5, signature: '0x00' }],
  ])('refuses %j', async (body) => {
    expectError(await verify(body), 'VALIDATION_ERROR');
  });
});

describe('a chain that cannot be asked', () => {
  it('makes a contract wallet wait, costs no attempt, and is no matter to a key', async () => {
    const proxied = await startProxiedHarness();
    const account = await unprovenOwner(proxied);
    const its = await startTestAgent(proxied, { owner: account });
    const ask = (body: unknown) => proxied.request('POST', '/identity/verify', { key: account.key, body });
    const { challengeId, message } = (await ask({ agentId: its.id, proof: 'wallet' })).body.data;
    proxied.proxy.rule('eth_call', () => null);
    for (let time = 0; time < 6; time++) expectError(await ask({ challengeId, signature: '0x1234' }), 'UNAVAILABLE');
    const signature = await account.wallet.signMessage({ message });
    expect((await ask({ challengeId, signature })).body.data).toMatchObject({ verified: true, method: 'eip191' });
    await its.die();
    await proxied.stop();
  });
});

describe('metadata', () => {
  const put = (body: unknown, key = owner.key) => h.request('PUT', `/identity/${agent.id}/metadata`, { key, body });

  it('is merged field by field; null removes one, and the words are found', async () => {
    const first = await put({ tags: ['zebra'], website: 'https://example.com/' });
    expect(first.body.data).toMatchObject({
      id: agent.id,
      metadata: { tags: ['zebra'], website: 'https://example.com/' },
      updated: ['website', 'tags'],
    });
    const found = async () =>
      (await h.request('POST', '/agents/search', { body: { query: { text: 'zebra' } } })).body.data.total;
    expect(await found()).toBe(1);
    const second = await put({ tags: null, maxConcurrency: 4, website: 'https://example.com/' });
    expect(second.body.data).toMatchObject({
      metadata: { website: 'https://example.com/', maxConcurrency: 4 },
      updated: ['tags', 'maxConcurrency'],
    });
    expect(await found()).toBe(0);
    clock.advance(1000);
    expect((await put({ avatar: null })).body.data).toEqual({ ...second.body.data, updated: [] });
    expect((await identity(agent.id)).metadata).toEqual({ website: 'https://example.com/', maxConcurrency: 4 });
  });

  it('is for the owner only', async () => {
    expectError(await put({ tags: [] }, stranger.key), 'FORBIDDEN');
    expectError(await put({ tags: [] }, agent.identityToken), 'FORBIDDEN');
    expectError(
      await h.request('PUT', '/identity/agt_nobody/metadata', { key: owner.key, body: { tags: [] } }),
      'NOT_FOUND',
    );
  });

  it.each([
    [{}],
    [{ tags: 'x' }],
    [{ website: 'ftp://example.com' }],
    [{ maxConcurrency: 0 }],
    [{ maxConcurrency: 1.5 }],
    [{ tags: Array(31).fill('x') }],
  ])('refuses %j', async (body) => {
    expectError(await put(body), 'VALIDATION_ERROR');
  });
});
