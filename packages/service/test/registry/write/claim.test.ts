import { identityRegistryByChain } from '@agent-network/chain/addresses';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../http/api/support/expect-error.ts';
import { sendAs } from '../../support/chain-actions.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { registerOnChain } from '../../support/registry-actions.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { untilIdentity, untilRegistered } from './support/registered.ts';
import { stockReader } from './support/stock-reader.ts';
import { newWalletOwner, proveWallet, type WalletOwner } from './support/wallet-owner.ts';

let h: Harness;
let owner: WalletOwner;
let chain: ReturnType<typeof stockReader>;
const agents: TestAgent[] = [];
const newAgent = async (by: WalletOwner = owner) => {
  const agent = await startTestAgent(h, { owner: by });
  agents.push(agent);
  return agent;
};
const registrar = () => h.ctx.registrar?.address ?? '';
const post = (path: string, body?: unknown, { key }: { key: string } = owner) => h.request('POST', path, { key, body });
const claim = (id: string, by?: { key: string }) => post(`/identity/${id}/claim`, undefined, by);
const link = (id: string, tokenId: string, by?: { key: string }) => post(`/identity/${id}/link`, { tokenId }, by);

beforeAll(async () => {
  h = await startHarness({ registers: true });
  chain = stockReader(h.rpcUrl);
  owner = await newWalletOwner(h);
  const first = await newAgent();
  expect((await proveWallet(h, owner, first.id)).body.data).toMatchObject({ verified: true, identityToken: null });
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
});

describe('claiming a token', () => {
  it('gives it to the proven wallet, and says so again when repeated', async () => {
    const agent = await newAgent();
    const { onChain } = await untilRegistered(h, agent.id);
    const first = await claim(agent.id);
    expect(first.body.data).toEqual({
      agentId: agent.id,
      chainId: 84_532,
      registry: identityRegistryByChain[84_532].toLowerCase(),
      tokenId: onChain.tokenId,
      owner: owner.address,
      state: 'claimed',
      transactionHash: expect.stringMatching(/^0x/),
    });
    expect((await chain.ownerOf(onChain.tokenId)).toLowerCase()).toBe(owner.address);
    expect((await claim(agent.id)).body.data).toEqual(first.body.data);
    await untilIdentity(h, agent.id, ({ onChain: { custody } }) => custody === 'owner');
    expect((await h.request('GET', `/identity/${agent.id}`)).body.data).toMatchObject({
      frozen: false,
      verified: true,
      onChain: { owner: owner.address, custody: 'owner' },
    });
  });

  it('asked for twice at the same moment sends one transaction', async () => {
    const agent = await newAgent();
    await untilRegistered(h, agent.id);
    const before = await chain.nonceOf(registrar());
    const answers = await Promise.all([claim(agent.id), claim(agent.id), claim(agent.id)]);
    expect(answers.map(({ body }) => body.data.state)).toEqual(['claimed', 'claimed', 'claimed']);
    expect((await chain.nonceOf(registrar())) - before).toBe(1);
  });

  it('takes a proven wallet, and says how to prove it', async () => {
    const unproven = await newWalletOwner(h);
    const agent = await newAgent(unproven);
    const refused = await claim(agent.id, unproven);
    expectError(refused, 'CONFLICT');
    expect(refused.body.error.message).toContain('POST /identity/verify');
  });

  it('is for the account that registered the agent', async () => {
    const agent = await newAgent();
    expectError(await claim(agent.id, await h.newAccount()), 'FORBIDDEN');
    expectError(await claim('agt_nobody'), 'NOT_FOUND');
  });
});

describe('linking a token', () => {
  it('takes one that the wallet holds, retires the one that the node made, and tells what to send', async () => {
    const agent = await newAgent();
    const made = (await untilRegistered(h, agent.id)).onChain.tokenId;
    const tokenId = await registerOnChain(h.rpcUrl, owner.address, 'https://elsewhere.example/agent.json');
    const linked = (await link(agent.id, tokenId)).body.data;
    const agentURI = `${h.baseUrl}/agents/${agent.id}/registration.json`;
    expect(linked).toMatchObject({ agentId: agent.id, tokenId, owner: owner.address, agentURI, pointsThere: false });
    await sendAs(h.rpcUrl, owner.address, linked.call.to, linked.call.data);
    expect((await link(agent.id, tokenId)).body.data).toEqual({ ...linked, pointsThere: true });
    expect((await chain.fileOf(tokenId)).registrations).toEqual([
      { agentId: Number(tokenId), agentRegistry: `eip155:84532:${linked.registry}` },
    ]);
    await untilIdentity(h, agent.id, ({ onChain }) => onChain.agentURI === agentURI && onChain.custody === 'owner');
    await expect.poll(() => chain.metadataOf(made, 'active')).toBe('false');
    expect((await claim(agent.id)).body.data).toMatchObject({ state: 'claimed', tokenId, transactionHash: null });
  });

  it('refuses one of another wallet, and one that there is not', async () => {
    const agent = await newAgent();
    const foreign = await registerOnChain(h.rpcUrl, (await h.newAccount()).address, 'https://x.example');
    expectError(await link(agent.id, foreign), 'CONFLICT');
    expectError(await link(agent.id, '999999'), 'VALIDATION_ERROR');
    expectError(await link(agent.id, '-1'), 'VALIDATION_ERROR');
    // More than 256 bits.
    expectError(await link(agent.id, '9'.repeat(78)), 'VALIDATION_ERROR', 'tokenId');
  });

  it('refuses a second one for an agent, and one that another agent has', async () => {
    const [agent, other] = [await newAgent(), await newAgent()];
    const tokens = [
      await registerOnChain(h.rpcUrl, owner.address, 'https://one.example'),
      await registerOnChain(h.rpcUrl, owner.address, 'https://two.example'),
    ] as const;
    expect((await link(agent.id, tokens[0])).status).toBe(200);
    expectError(await link(agent.id, tokens[1]), 'CONFLICT');
    expectError(await link(other.id, tokens[0]), 'CONFLICT');
    const both = await Promise.all([link(other.id, tokens[1]), link((await newAgent()).id, tokens[1])]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('removing an agent', () => {
  it('marks a token that the node holds as retired: that block is the final one, and the file says so', async () => {
    const agent = await newAgent();
    const { tokenId } = (await untilRegistered(h, agent.id)).onChain;
    const before = await h.ctx.usdc.headBlock();
    const { finalBlock } = (await h.request('DELETE', `/agents/${agent.id}`, { key: owner.key })).body.data;
    expect(await chain.metadataOf(tokenId, 'active')).toBe('false');
    const { logs } = await retired(tokenId, finalBlock);
    expect(logs).toBe(1);
    expect(BigInt(finalBlock)).toBeGreaterThan(before);
    expect(await chain.fileOf(tokenId)).toMatchObject({ active: false, agentNetwork: { status: 'offline' } });
    const { events } = (await h.request('GET', '/events?type=agent.removed', { key: (await operatorKey()).key })).body
      .data;
    expect(events.filter((each: { data: { id: string } }) => each.data.id === agent.id)).toEqual([
      expect.objectContaining({ data: { id: agent.id, unregistered: true, finalBlock } }),
    ]);
  });

  it('leaves a claimed token alone', async () => {
    const agent = await newAgent();
    const { tokenId } = (await untilRegistered(h, agent.id)).onChain;
    expect((await claim(agent.id)).body.data.state).toBe('claimed');
    expect((await h.request('DELETE', `/agents/${agent.id}`, { key: owner.key })).status).toBe(200);
    expect(await chain.metadataOf(tokenId, 'active')).toBe('');
  });

  /** How many metadata logs of a token a block has. */
  async function retired(tokenId: string, block: number): Promise<{ logs: number }> {
    const height = `0x${block.toString(16)}`;
    const topic = `0x${BigInt(tokenId).toString(16).padStart(64, '0')}`;
    const filter = {
      address: identityRegistryByChain[84_532],
      fromBlock: height,
      toBlock: height,
      topics: [null, topic],
    };
    return { logs: (await callChain<unknown[]>(h.rpcUrl, 'eth_getLogs', filter)).length };
  }

  async function operatorKey() {
    const { accountId } = owner;
    const { issueApiKey } = await import('../../../src/accounts/keys/manage-keys.ts');
    const made = await issueApiKey(h.ctx, { accountId, name: 'events', scopes: ['webhooks:manage'], expiresAt: null });
    return { key: made.apiKey };
  }
});
