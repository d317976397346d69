import { scopes } from '@agent-network/contracts/access/scopes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../../src/accounts/keys/manage-keys.ts';
import { callsAdded } from '../../../src/agents/reputation/call-store.ts';
import { newId } from '../../../src/lib/id.ts';
import { run } from '../../../src/store/sql.ts';
import type { Harness, TestAccount } from '../../support/harness.ts';
import { type NetworkNode, seenBy, startNodes, stopNodes, untilSo } from '../../support/network.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';

/** Three nodes start on a machine that may be busy. */
let nodes: NetworkNode[];
let a: NetworkNode;
let b: NetworkNode;
let c: NetworkNode;
let agent: TestAgent;
let operator: TestAccount;
let owner: TestAccount;
let tookMs: number[];

const find = async (node: Harness, text: string) =>
  (await node.request('POST', '/agents/search', { body: { query: { text } } })).body.data;
const detail = (node: Harness, id: string) => node.request('GET', `/agents/${id}`);
const isShown = async (node: Harness, id: string, wanted: object) => {
  const { data } = (await detail(node, id)).body;
  return Object.entries(wanted).every(([name, value]) => data?.[name] === value);
};

beforeAll(async () => {
  nodes = await startNodes(3);
  [a, b, c] = nodes as [NetworkNode, NetworkNode, NetworkNode];
  operator = await b.newAccount();
  for (const node of nodes)
    for (const other of nodes)
      if (other !== node)
        await untilSo('a node is listed', async () => (await seenBy(node, other.baseUrl))?.status === 'online');
  owner = await a.newAccount();
  agent = await startTestAgent(a, { owner, name: 'Zebrafinch', capabilities: ['singing'], perRequest: '0.07' });
  const isRegistered = async () => (await a.request('GET', `/identity/${agent.id}`)).body.data.onChain !== null;
  await untilSo('the agent is registered', isRegistered);
  tookMs = await Promise.all(
    [b, c].map((node) => untilSo('an agent is found', async () => (await find(node, 'zebrafinch')).total === 1)),
  );
});
/** Changes an agent in the database of its home, for others to be told. */
const changeAtHome = (sets: string): Promise<unknown> =>
  a.ctx.db.query('', `update agent set ${sets}, changed_at = clock_timestamp() where id = $1`, [agent.id]);

afterAll(async () => {
  await agent?.die();
  await stopNodes(nodes ?? []);
});

describe('an agent that is registered at one node', () => {
  it("is found at the others within five seconds of its block, with its home's label", async () => {
    for (const each of tookMs) expect(each).toBeLessThan(5000);
    for (const node of [b, c]) {
      const { agents } = await find(node, 'zebrafinch');
      expect(agents).toMatchObject([{ id: agent.id, location: 'node-1', status: 'online' }]);
      const listed = (await node.request('GET', '/agents?capability=singing')).body.data;
      expect(listed).toMatchObject({ total: 1, agents: [{ id: agent.id, location: 'node-1' }] });
      expect((await detail(node, agent.id)).body.data).toMatchObject({
        location: 'node-1',
        endpoint: `${a.baseUrl}/invoke/${agent.id}`,
        rates: { perRequest: '0.07' },
        verified: true,
        totalRequests: 0,
      });
      expect((await node.request('GET', `/agents/${agent.id}/status`)).body.data.location).toBe('node-1');
    }
    expect((await detail(a, agent.id)).body.data.location).toBe('node-1');
  });

  it('is found through the registry of ARD at the others, which names its home and asks no other node', async () => {
    const ask = async (node: Harness, path: string, body: object) =>
      (await node.request('POST', `/ard/v1/${path}`, { body })).body;
    const query = { text: 'zebrafinch' };
    const identifier = `urn:air:localhost:agents:${agent.id}`;
    const atHome = { identifier, source: `${a.baseUrl}/ard/v1`, metadata: { price: '0.07', online: true } };
    expect((await ask(a, 'search', { query })).results).toMatchObject([atHome]);
    const { results } = await ask(b, 'search', { query });
    expect(results).toMatchObject([{ ...atHome, url: `${b.baseUrl}/a2a/${agent.id}/.well-known/agent-card.json` }]);
    expect(results[0].trustManifest.attestations).toMatchObject([
      { type: 'erc8004', uri: `${a.baseUrl}/agents/${agent.id}/registration.json` },
    ]);
    // The hosts of all three are the same here.
    const named = { ...query, filter: { publisher: 'localhost' } };
    expect((await ask(b, 'search', { query: named })).results).toMatchObject([atHome]);
    for (const federation of ['none', 'referrals'])
      expect((await ask(b, 'search', { query, federation })).results).toEqual([]);
    const { referrals } = await ask(b, 'search', { query, federation: 'referrals' });
    expect(new Set(referrals.map(({ url }: { url: string }) => url))).toEqual(
      new Set([a, c].map(({ baseUrl }) => `${baseUrl}/ard/v1`)),
    );
    const counted = await ask(b, 'explore', { query, resultType: { facets: [{ field: 'type' }] } });
    expect(counted.facets.type.buckets).toEqual([]);
    expect((await b.request('GET', '/ard/v1/agents')).body.items).toEqual([]);
  });

  it('has a reputation elsewhere that comes from what was seen there', async () => {
    const at = async (node: Harness) => (await detail(node, agent.id)).body.data.reputation;
    await changeAtHome(`reputation = 999, description = 'The best.'`);
    await untilSo('a change is told', () => isShown(b, agent.id, { description: 'The best.' }));
    expect(await at(a)).toBe(999);
    expect(await at(b)).toBeLessThan(500);
  });

  it('shows what it is at home, moments after that changed', async () => {
    const exampleQuestions = ['Which bird is this?', 'How does a wren sound?'];
    const body = {
      name: 'Zebra Finch',
      capabilities: ['singing', 'flying'],
      rates: { perRequest: '0.08' },
      exampleQuestions,
    };
    expect((await a.request('PUT', `/agents/${agent.id}`, { key: owner.key, body })).status).toBe(200);
    await untilSo('a change is told', () => isShown(b, agent.id, { name: 'Zebra Finch' }));
    expect((await detail(b, agent.id)).body.data).toMatchObject({
      capabilities: ['singing', 'flying'],
      rates: { perRequest: '0.08' },
      exampleQuestions,
    });
    expect((await find(b, 'wren')).total).toBe(1);
    expect((await find(b, 'zebrafinch')).total).toBe(0);
    expect((await find(b, 'zebra finch')).total).toBe(1);
    expect((await b.request('GET', '/agents?capability=flying')).body.data.total).toBe(1);
  });

  it('is changed only at home, whoever asks elsewhere', async () => {
    const ofNode = await b.ctx.db.query<{ id: string }>(
      '',
      'select account_id as id from network_node where base_url = $1',
      [a.baseUrl],
    );
    const stranger = await b.newAccount();
    const key = await nodeKey(b, ofNode[0]?.id ?? '');
    for (const each of [stranger.key, key]) {
      const calls = [
        b.request('PUT', `/agents/${agent.id}`, { key: each, body: { name: 'Mine' } }),
        b.request('DELETE', `/agents/${agent.id}`, { key: each }),
        b.request('PUT', `/identity/${agent.id}/metadata`, { key: each, body: { tags: ['x'] } }),
        b.request('POST', '/identity/verify', { key: each, body: { agentId: agent.id, proof: 'endpoint' } }),
      ];
      for (const { status, body } of await Promise.all(calls)) {
        expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'CONFLICT' });
        expect(body.error.message).toContain(a.baseUrl);
      }
    }
  });

  it('has its schemas elsewhere as well, and input that does not fit them is refused there before anything is paid', async () => {
    const types = {
      inputSchema: { type: 'object', properties: { song: { type: 'string' } }, required: ['song'] },
      outputSchema: { type: 'object' },
      estimatedTime: '2-5s',
    };
    const setTypes = async (value: object | null) => {
      // Other nodes have read on from the change before: this one has to be told by itself.
      await a.ctx.db.query('', `update agent set changed_at = changed_at - interval '1 minute' where id = $1`, [
        agent.id,
      ]);
      const set = await a.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { types: value } });
      expect(set.body).toMatchObject({ status: 'success' });
      const told = async () => (await detail(b, agent.id)).body.data.types ?? null;
      await expect.poll(told).toEqual(value);
    };
    await setTypes(types);
    const { key } = await b.newAccount();
    for (const path of ['/quote', '']) {
      const refused = await b.request('POST', `/invoke/${agent.id}${path}`, { key, body: { task: 'sing', input: {} } });
      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    }
    const body = { task: 'sing', input: { song: 'la' } };
    expect((await b.request('POST', `/invoke/${agent.id}/quote`, { key, body })).status).toBe(200);
    await setTypes({ ...types, inputSchema: { type: 'object' } });
    await setTypes(null);
  });

  it('can be quoted elsewhere', async () => {
    const { key } = await b.newAccount();
    const { body } = await b.request('POST', `/invoke/${agent.id}/quote`, { key, body: { task: 'sing' } });
    expect(body.data).toMatchObject({ estimatedCost: expect.any(String) });
  });
});

describe('a node', () => {
  it('shows which others it knows, their agents and how far it has read the registry', async () => {
    const { data } = (await b.request('GET', '/network')).body;
    expect(data).toMatchObject({
      node: { label: 'node-2', baseUrl: b.baseUrl },
      index: { state: 'live' },
      agents: { local: 0, remote: 1 },
    });
    const shown = data.nodes.map(({ label, agents, status }: Record<string, unknown>) => ({ label, agents, status }));
    // In the order in which they were found, which is chance.
    shown.sort((x: { label: string }, y: { label: string }) => x.label.localeCompare(y.label));
    expect(shown).toEqual([
      { label: 'node-1', agents: 1, status: 'online' },
      { label: 'node-3', agents: 0, status: 'online' },
    ]);
  });

  it('that dies takes its agents offline, with alternatives; when it is back, so are they', async () => {
    const other = await startTestAgent(b, { name: 'Canary', capabilities: ['singing'] });
    const joinsTold = async () => {
      const { events } = (await b.request('GET', '/events?type=network.node_joined', { key: operator.key })).body.data;
      return events.filter(({ data }: { data: { label: string } }) => data.label === 'node-1').length;
    };
    const joinsBefore = await joinsTold();
    await a.front.die();
    await untilSo('the node is offline', async () => (await seenBy(b, a.baseUrl)).status === 'offline');
    await untilSo('its agent is offline', () => isShown(b, agent.id, { status: 'offline' }));
    const listed = (await b.request('GET', '/agents?capability=singing&status=online')).body.data;
    expect(listed.agents.map(({ id }: { id: string }) => id)).toEqual([other.id]);
    const { key } = await b.newAccount();
    const refused = await b.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'sing' } });
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { code: 'AGENT_UNAVAILABLE', agentId: agent.id, alternatives: [{ agentId: other.id }] } },
    });
    await a.front.revive();
    await untilSo('its agent is online', () => isShown(b, agent.id, { status: 'online' }));
    expect((await seenBy(b, a.baseUrl)).status).toBe('online');
    await untilSo('its return is told', async () => (await joinsTold()) === joinsBefore + 1);
    await other.die();
  });

  it('that dies is reported to operators', async () => {
    const heard = async () => {
      const { events } = (await b.request('GET', '/events?type=network.node_left', { key: operator.key })).body.data;
      return events.map(({ data }: { data: { label: string } }) => data.label);
    };
    await untilSo('it is told', async () => (await heard()).length > 0);
    expect(await heard()).toEqual(['node-1']);
  });

  it('that removes an agent has it removed everywhere; past calls of it read as before, and it may come back, with what failed meanwhile', async () => {
    const score = async () => (await b.request('GET', '/agents?capability=flying')).body.data.agents[0]?.reputation;
    const end = (isGood: boolean, payers: number) =>
      run(
        b.ctx.db,
        callsAdded(
          [],
          Array.from({ length: 3 * payers }, (_, nth) => ({
            ...{ requestId: newId('req'), agentId: agent.id, accountId: `acc_${isGood}_${nth % payers}`, wallet: '' },
            ...{ amountMicro: 50_000n, isGood },
          })),
          new Date(),
        ),
      );
    const before = await score();
    await end(true, 20);
    await untilSo('its score has risen', async () => (await score()) > before);
    await changeAtHome(`status = 'removed'`);
    await untilSo('the agent is gone', async () => (await detail(b, agent.id)).status === 404);
    expect((await find(b, 'zebra finch')).total).toBe(0);
    await end(false, 60);
    const computations = () => b.ctx.db.query('', 'select from agent_reputation where agent_id = $1', [agent.id]);
    await untilSo('its score is not computed any more', async () => (await computations()).length === 0);
    await changeAtHome(`status = 'online'`);
    await untilSo('the agent is back', () => isShown(b, agent.id, { status: 'online' }));
    expect((await find(b, 'zebra finch')).total).toBe(1);
    await untilSo('its score has fallen', async () => (await score()) < before);
  });
});

describe('a token', () => {
  it('that a reorg takes away takes its agent from the lists', async () => {
    await c.ctx.db.query(
      '',
      `with gone as (delete from registry_token where uri like '%${agent.id}%' returning chain_id, token_id)
       insert into registry_change (chain_id, token_id) select chain_id, token_id from gone
       on conflict (chain_id, token_id) do update set number = nextval('registry_change_number')`,
    );
    await untilSo('the agent is gone', async () => (await detail(c, agent.id)).status === 404);
    expect((await c.request('GET', '/agents?capability=flying')).body.data.total).toBe(0);
    expect((await seenBy(c, a.baseUrl)).agents).toBe(0);
  });
});

async function nodeKey(node: Harness, accountId: string): Promise<string> {
  const made = await issueApiKey(node.ctx, { accountId, name: 'test', scopes, expiresAt: null });
  return made.apiKey;
}
