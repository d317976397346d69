import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { newAgentId } from '../../../src/agents/agent-id.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { seenBy, untilSo } from '../../support/network.ts';
import { newOwner, registerOnChain, registryActions } from '../../support/registry-actions.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { agentFile, nodeFile, otherAgentId, registration } from './support/files.ts';
import { type Answer, type HostileServer, json, startHostileServer } from './support/hostile-server.ts';

let node: Harness;
let server: HostileServer;
let good: { baseUrl: string; tokenId: string; registrar: string };
const wellKnown = '/.well-known/agent-network.json';
/** What every node of this file refuses: they read the same registry. */
const refusing = () => ({ NETWORK_REFUSED: `${server.origin}/refused` });

beforeAll(async () => {
  server = await startHostileServer();
  node = await startHarness({
    followsRegistry: true,
    env: { REGISTRY_POLL_MS: '100', ...refusing() },
  });
  good = await listGoodNode('/good');
});
afterAll(async () => {
  await node?.stop();
  await server?.stop();
});

async function listGoodNode(path: string) {
  const baseUrl = server.origin + path;
  const registrar = newOwner();
  const tokenId = await registerOnChain(node.rpcUrl, registrar, baseUrl + wellKnown);
  server.answers.set(path + wellKnown, json(nodeFile({ baseUrl, tokenId })));
  server.answers.set(
    `${path}/network/agents`,
    json({ status: 'success', data: { agents: [], hasMore: false, cursor: '' } }),
  );
  await untilSo('a good node is listed', async () => (await seenBy(node, baseUrl))?.status === 'online');
  return { baseUrl, tokenId, registrar };
}

/** The reason for which an entry is ignored, once it is. */
async function fateOf(tokenId: string): Promise<string> {
  const stored = () =>
    node.ctx.db.query<{ reason: string }>(
      '',
      `select reason from network_entry where token_id = $1 and state = 'ignored' and reason is not null`,
      [tokenId],
    );
  await untilSo(`${tokenId} is ignored`, async () => (await stored()).length > 0);
  return (await stored())[0]?.reason ?? '';
}

/** Registers an entry. Its file is waited for, should the node look before the test knows the token that stands in it. */
async function announceFile(path: string, owner: string, answerOf: (tokenId: string) => Answer): Promise<string> {
  const put = Promise.withResolvers<Answer>();
  server.answers.set(path, async (message, response) => (await put.promise)(message, response));
  const tokenId = await registerOnChain(node.rpcUrl, owner, server.origin + path);
  const answer = answerOf(tokenId);
  server.answers.set(path, answer);
  put.resolve(answer);
  return tokenId;
}

async function counted(reason: string): Promise<number> {
  const { body } = await node.request('GET', '/metrics');
  return Number(new RegExp(`network_ignored_total\\{reason="${reason}"\\} (\\d+)`).exec(body)?.[1] ?? 0);
}

const hang: Answer = () => undefined;
const big = 'x'.repeat(300 * 1024);
type NodeFile = ReturnType<typeof nodeFile>;
const part = (file: NodeFile, change: object) => ({ ...file, agentNetwork: { ...file.agentNetwork, ...change } });

const nodeCases: [reason: string, answer: (file: NodeFile) => Answer][] = [
  ['no_json', () => (_m, response) => response.end('<html>')],
  ['bad_file', () => json([])],
  ['bad_file', (file) => json(part(file, { label: 'x'.repeat(65) }))],
  ['bad_file', (file) => json(part(file, { label: 'a\u202eb' }))],
  ['bad_file', (file) => json(part(file, { label: 'n\u043ede' }))],
  ['wrong_type', (file) => json({ ...file, type: 'https://example.com/other' })],
  ['wrong_kind', (file) => json(part(file, { kind: 'agent' }))],
  ['other_address', (file) => json(part(file, { baseUrl: 'https://example.com' }))],
  ['no_token', (file) => json({ ...file, registrations: [] })],
  ['other_token', (file) => json({ ...file, registrations: [registration('999999')] })],
  [
    'other_chain',
    (file) =>
      json({
        ...file,
        registrations: file.registrations.map(({ agentId }) => ({
          agentId,
          agentRegistry: 'eip155:8453:0x8004a818bfb912233c491871b3d84c89a494bd9e',
        })),
      }),
  ],
  ['no_wallet', (file) => json(part(file, { wallet: `0x${'0'.repeat(40)}` }))],
  ['our_wallet', (file) => json(part(file, { wallet: node.ctx.wallet.address }))],
  ['too_large', (file) => json({ ...file, name: big })],
  [
    'too_large',
    () => (_m, response) => {
      response.writeHead(200);
      for (let i = 0; i < 100; i++) response.write('x'.repeat(1024));
    },
  ],
  ['slow', () => hang],
  ['slow', () => (_m, response) => void response.writeHead(200).write('{')],
  [
    'redirect',
    () => (_m, response) => response.writeHead(302, { location: `${server.origin}/good${wellKnown}` }).end(),
  ],
  ['bad_status', () => json({}, 500)],
  ['not_there', () => json({}, 404)],
  [
    'compressed',
    (file) => (_m, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(file))),
  ],
];

describe.concurrent('a file of a node', () => {
  it.for(nodeCases.map(([reason, answer], nth) => [`${reason} (${nth})`, reason, answer] as const))(
    'that is %s is ignored, with its reason and a counter',
    async ([name, reason, answer], { expect }) => {
      const path = `/${name.replace(/\W+/g, '-')}`;
      const baseUrl = server.origin + path;
      const answerOf = (tokenId: string) => answer(nodeFile({ baseUrl, tokenId }));
      const tokenId = await announceFile(path + wellKnown, newOwner(), answerOf);
      expect(await fateOf(tokenId)).toBe(reason);
      await untilSo('it is counted', async () => (await counted(reason)) > 0);
      expect(await seenBy(node, baseUrl)).toBeNull();
    },
  );

  it('at a private address is never fetched', async ({ expect }) => {
    const tokenId = await registerOnChain(node.rpcUrl, newOwner(), `http://169.254.169.254${wellKnown}`);
    expect(await fateOf(tokenId)).toBe('private_address');
  });

  it('of a node that the operator refuses is never fetched', async ({ expect }) => {
    const tokenId = await registerOnChain(node.rpcUrl, newOwner(), `${server.origin}/refused${wellKnown}`);
    expect(await fateOf(tokenId)).toBe('refused');
    expect(server.asked.get(`/refused${wellKnown}`)).toBeUndefined();
  });

  it('counts for the first token that it names; a copy of the entry is ignored', async ({ expect }) => {
    const copy = await registerOnChain(node.rpcUrl, newOwner(), good.baseUrl + wellKnown);
    expect(await fateOf(copy)).toBe('other_token');
    const file = nodeFile(good);
    server.answers.set(
      `/good${wellKnown}`,
      json({ ...file, registrations: [registration(good.tokenId), registration(copy)] }),
    );
    await node.ctx.db.query('', 'update network_entry set next_try_at = now() where token_id = $1', [copy]);
    await untilSo('it is a duplicate', async () => {
      const [row] = await node.ctx.db.query<{ reason: string }>(
        '',
        'select reason from network_entry where token_id = $1',
        [copy],
      );
      return row?.reason === 'duplicate';
    });
    expect((await seenBy(node, good.baseUrl)).status).toBe('online');
  });

  it('of no kind of ours, or in another spelling, is left alone', async ({ expect }) => {
    const spelling = `${server.origin}/./good${wellKnown}`.replace('127.0.0.1', '127.1');
    for (const uri of ['ipfs://abc', 'https://example.com/agent.json', spelling, '']) {
      const tokenId = await registerOnChain(node.rpcUrl, newOwner(), uri);
      await untilSo('it was followed', async () => {
        const [row] = await node.ctx.db.query<{ ok: boolean }>(
          '',
          `select c.number <= f.number as ok from registry_change c, network_follow f where c.token_id = $1`,
          [tokenId],
        );
        return row?.ok === true;
      });
      expect(await node.ctx.db.query('', 'select from network_entry where token_id = $1', [tokenId])).toEqual([]);
    }
  });
});

type AgentFile = ReturnType<typeof agentFile>;
const agentPart = (file: AgentFile, change: object) => ({ ...file, agentNetwork: { ...file.agentNetwork, ...change } });

const agentCases: [reason: string, answer: (file: AgentFile) => Answer][] = [
  ['other_owner', (file) => json(agentPart(file, { owner: newOwner() }))],
  ['other_token', (file) => json({ ...file, registrations: [registration('999999')] })],
  ['other_chain', (file) => json({ ...file, registrations: [registration('1', 'eip155:1:0x00')] })],
  ['other_id', (file) => json(agentPart(file, { id: otherAgentId() }))],
  ['other_address', (file) => json(agentPart(file, { nodeUrl: node.baseUrl }))],
  ['wrong_kind', (file) => json(agentPart(file, { kind: 'node' }))],
  ['not_there', () => json({}, 404)],
  ['too_large', (file) => json({ ...file, description: big })],
  ['bad_file', (file) => json({ ...file, name: 'x'.repeat(121) })],
  ['bad_file', (file) => json({ ...file, name: 'a\u0000b' })],
  ['bad_file', (file) => json({ ...file, name: 'Parrot\u200b' })],
  ['bad_file', (file) => json({ ...file, name: 'P\u0430rrot' })],
  ['bad_file', (file) => json({ ...file, name: 'Parrot \u2705' })],
  ['bad_file', (file) => json(agentPart(file, { capabilities: [] }))],
  ['bad_file', (file) => json(agentPart(file, { capabilities: ['a b'] }))],
  ['bad_file', (file) => json(agentPart(file, { rates: { perRequest: '-1', perHour: '1', tiers: {} } }))],
  ['bad_file', (file) => json(agentPart(file, { metadata: { website: 'javascript:alert(1)' } }))],
  ['bad_file', (file) => json(agentPart(file, { createdAt: 'yesterday' }))],
];

describe.concurrent('a file of an agent', () => {
  async function announce(id: string, answerOf: (file: AgentFile) => Answer = json, owner = good.registrar) {
    const path = `/good/agents/${id}/registration.json`;
    const fileOf = (tokenId: string) => agentFile({ ...good, tokenId, id, owner });
    const tokenId = await announceFile(path, owner, (token) => answerOf(fileOf(token)));
    return { tokenId, path, file: fileOf(tokenId) };
  }

  it.for(agentCases.map(([reason, answer], nth) => [`${reason} (${nth})`, reason, answer] as const))(
    'that is %s is ignored, with its reason and a counter',
    async ([, reason, answer], { expect }) => {
      const id = otherAgentId();
      const { tokenId } = await announce(id, answer, newOwner());
      expect(await fateOf(tokenId)).toBe(reason);
      await untilSo('it is counted', async () => (await counted(reason)) > 0);
      expect((await node.request('GET', `/agents/${id}`)).status).toBe(404);
    },
  );

  it('with the id of an agent of ours, or of another node that was first, is ignored', async ({ expect }) => {
    const agent: TestAgent = await startTestAgent(node);
    const { tokenId } = await announce(agent.id);
    expect(await fateOf(tokenId)).toBe('id_taken');
    expect((await node.request('GET', `/agents/${agent.id}`)).body.data).toMatchObject({
      name: 'Test agent',
      location: 'local',
    });
    await agent.die();
  });

  it('of a node that is not listed is never fetched', async ({ expect }) => {
    const path = `/nobody/agents/${otherAgentId()}/registration.json`;
    const tokenId = await registerOnChain(node.rpcUrl, newOwner(), server.origin + path);
    expect(await fateOf(tokenId)).toBe('unknown_node');
    expect(server.asked.get(path)).toBeUndefined();
  });

  it('is believed about the owner while the registrar has the token, and then only as the chain says', async () => {
    const id = otherAgentId();
    const [owner, buyer] = [newOwner(), newOwner()];
    const { tokenId, path, file } = await announce(id, (file) => json(agentPart(file, { owner })));
    const shown = async () => (await node.request('GET', `/agents/${id}`)).body.data?.owner;
    await untilSo('it is listed', async () => (await shown()) === owner);
    await registryActions(node.rpcUrl).transfer(good.registrar, buyer, BigInt(tokenId));
    server.answers.set(path, json(agentPart(file, { owner: buyer })));
    await untilSo('the buyer is the owner', async () => (await shown()) === buyer);
  });

  it('that was good stays while it cannot be read, and goes with its token', async ({ expect }) => {
    const id = otherAgentId();
    const { tokenId, path } = await announce(id);
    const status = async () => (await node.request('GET', `/agents/${id}`)).status;
    await untilSo('it is listed', async () => (await status()) === 200);
    server.answers.set(path, json({}, 500));
    await node.ctx.db.query('', 'update network_entry set next_try_at = now() where token_id = $1', [tokenId]);
    const before = server.asked.get(path) ?? 0;
    await untilSo('it was asked again, often', async () => (server.asked.get(path) ?? 0) > before + 4);
    expect(await status()).toBe(200);
    await registryActions(node.rpcUrl).setUri(good.registrar, BigInt(tokenId), 'https://example.com/elsewhere');
    await untilSo('it is gone', async () => (await status()) === 404);
  });
});

describe.concurrent('the id of an agent', () => {
  const pathOf = (base: string, id: string) => `${base}/agents/${id}/registration.json`;
  const serve = (base: string, file: AgentFile) => server.answers.set(pathOf(base, file.agentNetwork.id), json(file));
  const endpointAt = async (at: Harness, id: string) => (await at.request('GET', `/agents/${id}`)).body.data?.endpoint;
  /** Has the registrar of a listed node register an agent there. */
  const list = (base: string, home: typeof good, id: string, idSalt?: string) => {
    const salted = idSalt === undefined ? {} : { idSalt };
    return announceFile(pathOf(base, id), home.registrar, (tokenId) =>
      json(agentFile({ ...home, tokenId, id, owner: home.registrar, ...salted })),
    );
  };
  const boundTo = (registrar: string) => {
    const { id, idSalt } = newAgentId(registrar, new Date());
    return { id, idSalt: idSalt?.toString('hex') ?? '' };
  };

  it('stays with its home when an older token is pointed at it later; a node that reads all anew sees the same', async ({
    expect,
  }) => {
    const evil = await listGoodNode('/older');
    const old = await registerOnChain(node.rpcUrl, evil.registrar, 'https://example.com/nothing');
    const id = otherAgentId();
    const token = await list('/good', good, id);
    expect(BigInt(old)).toBeLessThan(BigInt(token));
    await untilSo('it is listed', async () => (await endpointAt(node, id)) === `${good.baseUrl}/invoke/${id}`);
    serve('/older', agentFile({ ...evil, tokenId: old, id, owner: evil.registrar }));
    await registryActions(node.rpcUrl).setUri(evil.registrar, BigInt(old), server.origin + pathOf('/older', id));
    expect(await fateOf(old)).toBe('other_home');
    expect(await endpointAt(node, id)).toBe(`${good.baseUrl}/invoke/${id}`);
    const fresh = await startHarness({
      followsRegistry: true,
      env: { CHAIN_RPC_URL: node.rpcUrl, ...refusing() },
    });
    await untilSo('a new node lists it', async () => (await endpointAt(fresh, id)) !== undefined);
    expect(await endpointAt(fresh, id)).toBe(`${good.baseUrl}/invoke/${id}`);
    await fresh.stop();
  });

  it('is not taken by a squatter that was first on chain, even with its salt', async ({ expect }) => {
    const evil = await listGoodNode('/squat');
    const { id, idSalt } = boundTo(good.registrar);
    const squat = await list('/squat', evil, id, idSalt);
    expect(await fateOf(squat)).toBe('other_home');
    expect(await endpointAt(node, id)).toBeUndefined();
    await list('/good', good, id, idSalt);
    await untilSo('its home lists it', async () => (await endpointAt(node, id)) === `${good.baseUrl}/invoke/${id}`);
  });

  it('goes nowhere when the owner of its token points that at another node', async ({ expect }) => {
    const evil = await listGoodNode('/buyer');
    const { id, idSalt } = boundTo(good.registrar);
    const token = await list('/good', good, id, idSalt);
    await untilSo('it is listed', async () => (await endpointAt(node, id)) !== undefined);
    const { transfer, setUri } = registryActions(node.rpcUrl);
    await transfer(good.registrar, evil.registrar, BigInt(token));
    serve('/buyer', agentFile({ ...evil, tokenId: token, id, owner: evil.registrar, idSalt }));
    await setUri(evil.registrar, BigInt(token), server.origin + pathOf('/buyer', id));
    expect(await fateOf(token)).toBe('other_home');
    expect(await endpointAt(node, id)).toBeUndefined();
  });

  it('is not proven by a token that the home once held, and that others made point to their node', async ({
    expect,
  }) => {
    const [base, buyer] = ['/returned', newOwner()];
    const baseUrl = server.origin + base;
    const nodeToken = await registerOnChain(node.rpcUrl, good.registrar, 'https://example.com/an-agent');
    const { transfer, setUri } = registryActions(node.rpcUrl);
    await transfer(good.registrar, buyer, BigInt(nodeToken));
    await setUri(buyer, BigInt(nodeToken), baseUrl + wellKnown);
    await transfer(buyer, good.registrar, BigInt(nodeToken));
    server.answers.set(base + wellKnown, json(nodeFile({ baseUrl, tokenId: nodeToken })));
    await untilSo('it is listed as a node', async () => (await seenBy(node, baseUrl)) !== null);
    const { id, idSalt } = boundTo(good.registrar);
    const taken = await list(base, { baseUrl, tokenId: nodeToken, registrar: buyer }, id, idSalt);
    expect(await fateOf(taken)).toBe('other_home');
  });

  it('follows its home to another address', async () => {
    const home = await listGoodNode('/before');
    const { id, idSalt } = boundTo(home.registrar);
    const token = await list('/before', home, id, idSalt);
    await untilSo('it is listed', async () => (await endpointAt(node, id)) === `${home.baseUrl}/invoke/${id}`);
    const after = { ...home, baseUrl: `${server.origin}/after` };
    server.answers.set(`/after${wellKnown}`, json(nodeFile(after)));
    server.answers.set('/after/network/agents', server.answers.get('/before/network/agents') as Answer);
    serve('/after', agentFile({ ...after, tokenId: token, id, owner: home.registrar, idSalt }));
    const { setUri } = registryActions(node.rpcUrl);
    await setUri(home.registrar, BigInt(home.tokenId), after.baseUrl + wellKnown);
    await setUri(home.registrar, BigInt(token), server.origin + pathOf('/after', id));
    await untilSo('it moved along', async () => (await endpointAt(node, id)) === `${after.baseUrl}/invoke/${id}`);
  });
});
