import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agentRegistryOf } from '@agent-network/contracts/agents/registration';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDnsServer } from '../../support/dns-server.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { registerOnChain } from '../../support/registry-actions.ts';
import { until } from '../../support/until.ts';
import { json, type Speaker, startUpstream, type TestUpstream } from './support/upstream.ts';

const texts = new Map<string, string[]>();
let dns: Awaited<ReturnType<typeof startDnsServer>>;
let h: Harness;
let owner: TestAccount;
let site: TestUpstream;
/** What the site serves beside models, by path. */
const files = new Map<string, unknown>();

const speaker = (): Speaker => ({
  protocol: 'openai',
  path: '/v1',
  upstream: { model: 'm' },
  isWork: () => false,
  answer: (seen, _request, response) =>
    seen.path === '/v1/models'
      ? json(response, 200, { data: [{ id: 'm' }] })
      : json(response, files.has(seen.path) ? 200 : 404, files.get(seen.path) ?? {}),
});

beforeAll(async () => {
  dns = await startDnsServer(
    (name) => (name.endsWith('agent.example') ? ['127.0.0.1'] : undefined),
    30,
    (name) => texts.get(name) ?? [],
  );
  h = await startHarness({ env: { DNS_SERVERS: dns.address }, followsRegistry: true });
  owner = await h.newAccount();
  site = await startUpstream(speaker);
});
afterAll(async () => {
  await site.stop();
  await h.stop();
  await dns.stop();
});

async function register(endpoint: string, protocol: 'openai' | 'a2a' = 'openai', account = owner): Promise<string> {
  const { body } = await h.request('POST', '/agents', {
    key: account.key,
    body: {
      name: 'Claimed',
      capabilities: ['x'],
      rates: { perRequest: '0' },
      endpoint,
      protocol,
      upstream: protocol === 'openai' ? { model: 'm' } : {},
    },
  });
  return body.data.id;
}
const verify = async (agentId: string, account = owner) =>
  (await h.request('POST', '/identity/verify', { key: account.key, body: { agentId, proof: 'endpoint' } })).body.data;
const atName = () => site.endpoint.replace('127.0.0.1', 'api.agent.example');

describe('an endpoint that cannot answer a challenge is proven', () => {
  it('by no claim of its registrant: it stays pending, with all the ways to prove it', async () => {
    const id = await register(atName());
    const told = await verify(id);
    expect(told).toMatchObject({ status: 'pending_verification', by: null });
    expect(told.reason).toContain(`"agent-network-verify=${id}" of _agent-network.api.agent.example`);
    expect(site.seen.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('by the well-known file of its origin that names the agent, and that agent alone', async () => {
    const mine = await register(site.endpoint);
    const theirs = await register(site.endpoint, 'openai', await h.newAccount());
    site.named.push(mine);
    expect(await verify(mine)).toMatchObject({ status: 'online', by: 'well-known' });
    // A file says nothing about how soon the endpoint answers.
    const { body } = await h.request('GET', `/agents/${mine}/reputation`);
    expect(body.data.components.latency).toMatchObject({ responseTime: null, contribution: 0 });
    const identity = await h.request('GET', `/identity/${theirs}`);
    expect(identity.body.data.proofs.endpoint).toBeNull();
  });

  it('by a TXT record of its host, not of another one nor for another agent', async () => {
    const [id, other] = [await register(atName()), await register(atName())];
    texts.set('_agent-network.agent.example', [`agent-network-verify=${id}`]);
    texts.set('_agent-network.api.agent.example', [`agent-network-verify=${other}x`, 'v=spf1']);
    expect(await verify(id)).toMatchObject({ by: null });
    texts.set('_agent-network.api.agent.example', ['v=spf1', `agent-network-verify=${id}`]);
    expect(await verify(id)).toMatchObject({ status: 'online', by: 'dns' });
    expect(await verify(other)).toMatchObject({ status: 'pending_verification', by: null });
  });

  it('by its own agent card, not by the card of its origin', async () => {
    const base = new URL('/tenants/alice', site.endpoint).href;
    const id = await register(base, 'a2a');
    const card = {
      supportedInterfaces: [{ url: `${base}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { extensions: [{ uri: 'urn:agent-network:agent', params: { agentId: id } }] },
    };
    files.set('/.well-known/agent-card.json', card);
    expect(await verify(id)).toMatchObject({ by: null });
    files.set('/tenants/alice/.well-known/agent-card.json', card);
    expect(await verify(id)).toMatchObject({ status: 'online', by: 'card' });
  });

  it('not by a card with an interface of another tenant of the host', async () => {
    const base = new URL('/tenants/mallory', site.endpoint).href;
    const id = await register(base, 'a2a');
    files.set('/tenants/mallory/.well-known/agent-card.json', {
      supportedInterfaces: [{ url: '/tenants/alice/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { extensions: [{ uri: 'urn:agent-network:agent', params: { agentId: id } }] },
    });
    expect(await verify(id)).toMatchObject({ status: 'pending_verification', by: null });
  });

  it('by a token of its owner that its origin names and that has a file listing it; not by the file of a stranger', async () => {
    const endpoint = new URL('/tokens/v1', site.endpoint).href;
    const listing = (url: string) =>
      `data:application/json;base64,${Buffer.from(JSON.stringify({ services: [{ name: 'x', endpoint: url }] })).toString('base64')}`;
    const [tokenId, elsewhere] = [
      await registerOnChain(h.rpcUrl, owner.address, listing(endpoint)),
      await registerOnChain(h.rpcUrl, owner.address, listing('https://other.example/')),
    ];
    const isRead = async () => ((await h.ctx.registryTokens.at(BigInt(elsewhere)))?.isSafe ? true : null);
    await until(isRead);
    const id = await register(endpoint);
    const thief = await h.newAccount();
    const theirs = await register(endpoint, 'openai', thief);
    const name = (agentId: string, agentRegistry = agentRegistryOf(h.ctx.registry.chainId, h.ctx.registry.address)) =>
      site.registrations.splice(0, 9, { agentId: Number(agentId), agentRegistry });
    expect(await verify(id)).toMatchObject({ by: null });
    name(elsewhere);
    expect(await verify(id)).toMatchObject({ by: null });
    name(tokenId, 'eip155:1:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432');
    expect(await verify(id)).toMatchObject({ by: null });
    name(tokenId);
    expect(await verify(theirs, thief)).toMatchObject({ by: null });
    expect(await verify(id)).toMatchObject({ by: 'erc8004' });
  });

  it('by tokens with files that are read in parallel, so that slow ones cost one timeout', async () => {
    const endpoint = new URL('/slow/v1', site.endpoint).href;
    const waiting = new Map<ServerResponse, string>();
    // Answers nobody before all three files are asked for at the same time. The first check of the agent may ask beside us.
    const slow = createServer((request, response) => {
      waiting.set(response, request.url ?? '');
      response.once('close', () => waiting.delete(response));
      if (new Set(waiting.values()).size === 3)
        for (const each of waiting.keys()) each.end(JSON.stringify({ services: [{ name: 'x', endpoint }] }));
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const { port } = slow.address() as AddressInfo;
    const tokens: string[] = [];
    for (const at of [0, 1, 2])
      tokens.push(await registerOnChain(h.rpcUrl, owner.address, `http://127.0.0.1:${port}/${at}.json`));
    const isRead = async () => ((await h.ctx.registryTokens.at(BigInt(tokens[2] ?? '')))?.isSafe ? true : null);
    await until(isRead);
    const agentRegistry = agentRegistryOf(h.ctx.registry.chainId, h.ctx.registry.address);
    site.registrations.splice(0, 9, ...tokens.map((token) => ({ agentId: Number(token), agentRegistry })));
    expect(await verify(await register(endpoint))).toMatchObject({ by: 'erc8004' });
    slow.close();
    slow.closeAllConnections();
  });
});
