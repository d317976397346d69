import { AgentRegistrationFile, NodeRegistrationFile } from '@agent-network/contracts/agents/registration';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase } from '../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { untilIdentity, untilRegistered } from './support/registered.ts';
import { stockReader } from './support/stock-reader.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
let chain: ReturnType<typeof stockReader>;
const agents: TestAgent[] = [];
const newAgent = async (options: Parameters<typeof startTestAgent>[1] = {}) => {
  const started = await startTestAgent(h, { owner, ...options });
  agents.push(started);
  return started;
};
const registrar = () => h.ctx.registrar?.address ?? '';
const registry = () => `eip155:84532:${h.ctx.registry.address}`;

/** The node's own token, once it is on the chain. */
async function untilAnnounced(): Promise<string> {
  const entry = await until(async () => {
    const [row] = await askDatabase<{ tokenId: string }>(
      h.databaseUrl,
      `select token_id::text as "tokenId" from registry_write where subject_id = '' and state = 'done'`,
    );
    return row ?? null;
  });
  return entry?.tokenId ?? '';
}

beforeAll(async () => {
  h = await startHarness({ registers: true });
  chain = stockReader(h.rpcUrl);
  owner = await h.newAccount();
  agent = await newAgent({ capabilities: ['echo'], perRequest: '0.07' });
});
afterAll(async () => {
  await Promise.all(agents.map((each) => each.die()));
  await h.stop();
});

describe('a verified agent', () => {
  it('is registered by the node: a stock reader comes from the token to its file', async () => {
    const { onChain } = await untilRegistered(h, agent.id);
    const file = AgentRegistrationFile.strict().parse(await chain.fileOf(onChain.tokenId));
    expect(file).toMatchObject({
      type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
      name: 'Test agent',
      x402Support: true,
      active: true,
      registrations: [{ agentId: Number(onChain.tokenId), agentRegistry: registry() }],
      services: [
        { name: 'agent-network', endpoint: `${h.baseUrl}/invoke/${agent.id}`, version: '1' },
        { name: 'MCP', endpoint: `${h.baseUrl}/agents/${agent.id}/mcp`, version: '2026-07-28' },
        { name: 'A2A', endpoint: `${h.baseUrl}/a2a/${agent.id}/.well-known/agent-card.json`, version: '1.0' },
      ],
      agentNetwork: {
        kind: 'agent',
        id: agent.id,
        nodeUrl: h.baseUrl,
        owner: owner.address,
        capabilities: ['echo'],
        rates: { perRequest: '0.07', perHour: '0.07', tiers: {} },
        verified: true,
        status: 'online',
      },
    });
    expect((await chain.ownerOf(onChain.tokenId)).toLowerCase()).toBe(registrar());
    expect((await chain.walletOf(onChain.tokenId)).toLowerCase()).toBe(registrar());
  });

  it('has its on-chain record in the identity, before and after the index has read it', async () => {
    const isRead = ({ onChain }: { onChain: { agentWallet: string | null } }) => onChain.agentWallet !== null;
    const { onChain, registration, frozen } = await untilIdentity(h, agent.id, isRead);
    expect({ registration, frozen }).toEqual({ registration: 'registered', frozen: false });
    expect(onChain).toEqual({
      chainId: 84_532,
      registry: h.ctx.registry.address,
      tokenId: expect.any(String),
      agentURI: `${h.baseUrl}/agents/${agent.id}/registration.json`,
      owner: registrar(),
      agentWallet: registrar(),
      registeredBlock: expect.any(Number),
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      custody: 'node',
    });
  });

  it('is registered once, however often it is proven', async () => {
    const { onChain } = await untilRegistered(h, agent.id);
    // The registrar gets that one too.
    await untilAnnounced();
    const before = await chain.countOf(registrar());
    for (const _ of [1, 2, 3])
      await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: agent.id, proof: 'endpoint' } });
    await h.ctx.entryKeeper.keep();
    await Promise.all([h.ctx.registryWriter.write(), h.ctx.registryWriter.write()]);
    expect(await chain.countOf(registrar())).toBe(before);
    expect((await untilRegistered(h, agent.id)).onChain.tokenId).toBe(onChain.tokenId);
  });
});

describe('many agents', () => {
  it('that are verified at once get a token each in few transactions, and their files name them', async () => {
    const before = { tokens: await chain.countOf(registrar()), nonce: await chain.nonceOf(registrar()) };
    const started = await Promise.all(Array.from({ length: 30 }, (_, index) => newAgent({ name: `Agent ${index}` })));
    const identities = await Promise.all(started.map(({ id }) => untilRegistered(h, id)));
    const tokenIds = identities.map(({ onChain }) => onChain.tokenId as string);
    expect(new Set(tokenIds).size).toBe(30);
    expect(await chain.countOf(registrar())).toBe(before.tokens + 30);
    // The executor is put onto the chain by one of them.
    expect((await chain.nonceOf(registrar())) - before.nonce).toBeLessThanOrEqual(8);
    for (const [index, { id }] of started.entries())
      expect((await chain.fileOf(tokenIds[index] ?? '')).agentNetwork.id).toBe(id);
  });
});

describe('the file of an agent', () => {
  const read = (id: string, headers: Record<string, string> = {}) =>
    fetch(`${h.baseUrl}/agents/${id}/registration.json`, { headers });

  it('is there as soon as the agent is, without a token, open to any origin and for a while', async () => {
    const pending = await newAgent({ provesItself: false });
    const answer = await read(pending.id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=15');
    const file = AgentRegistrationFile.parse(await answer.json());
    expect(file).toMatchObject({ registrations: [], active: true, agentNetwork: { verified: false } });
  });

  it('has a tag that changes with it, within a second', async () => {
    const first = await read(agent.id);
    const etag = first.headers.get('etag') ?? '';
    expect((await read(agent.id, { 'if-none-match': `"other", W/${etag}` })).status).toBe(304);
    const body = { description: 'Says what it is told.' };
    await h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body });
    await expect.poll(async () => (await read(agent.id, { 'if-none-match': etag })).status).toBe(200);
    expect(await (await read(agent.id)).json()).toMatchObject(body);
  });

  it('of an unknown agent is not found', async () => {
    const answer = await read('agt_nobody');
    expect(answer.status).toBe(404);
    expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('NOT_FOUND');
  });
});

describe('the node', () => {
  it('announces itself: its entry leads to its file, which names the entry', async () => {
    const tokenId = await untilAnnounced();
    expect(await chain.tokenUri(tokenId)).toBe(`${h.baseUrl}/.well-known/agent-network.json`);
    const file = NodeRegistrationFile.strict().parse(await chain.fileOf(tokenId));
    expect(file).toMatchObject({
      name: 'local',
      active: true,
      registrations: [{ agentId: Number(tokenId), agentRegistry: registry() }],
      agentNetwork: { kind: 'node', baseUrl: h.baseUrl, label: 'local', wallet: h.ctx.chain.wallet },
    });
  });
});
