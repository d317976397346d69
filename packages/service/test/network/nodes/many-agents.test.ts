import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
import { seenBy, untilSo } from '../../support/network.ts';
import { newOwner, registerOnChain } from '../../support/registry-actions.ts';
import { agentFile, nodeFile } from './support/files.ts';
import { type Answer, type HostileServer, json, startHostileServer } from './support/hostile-server.ts';
import { insertAgents } from './support/insert-agents.ts';

/** What the suite has time for; NETWORK_AGENTS=10000 measures more. */
const COUNT = Number(process.env.NETWORK_AGENTS ?? 700);
const wellKnown = '/.well-known/agent-network.json';
let node: Harness;
let server: HostileServer;

beforeAll(async () => {
  server = await startHostileServer();
  node = await startHarness({ followsRegistry: true, env: { NETWORK_POLL_MS: '500' } });
});
afterAll(async () => {
  await node?.stop();
  await server?.stop();
});

it(`${COUNT} agents leave with their node and come back with it within seconds, and every total is exact`, async () => {
  const { origin: baseUrl } = server;
  const registrar = newOwner();
  const tokenId = await registerOnChain(node.rpcUrl, registrar, baseUrl + wellKnown);
  let files: ReturnType<typeof agentFile>[] = [];
  const feed: Answer = (message, response) => {
    const start = Number(new URL(message.url ?? '', 'http://x').searchParams.get('cursor') ?? '0');
    const agents = files.slice(start, start + 200);
    const data = { agents, hasMore: start + 200 < files.length, cursor: String(Math.min(start + 200, files.length)) };
    json({ status: 'success', data })(message, response);
  };
  server.answers.set(wellKnown, json(nodeFile({ baseUrl, tokenId })));
  server.answers.set('/network/agents', feed);
  await untilSo('the node is online', async () => (await seenBy(node, baseUrl))?.status === 'online');
  const { nodeId } = await seenBy(node, baseUrl);
  const ids = await insertAgents(node, COUNT, { nodeId });
  const ours = await insertAgents(node, 10, { areOurs: true });
  await node.ctx.db.query(
    '',
    `insert into network_entry (chain_id, token_id, kind, base_url, agent_id, owner, registered_by, uri_block, uri_index, uri_by, state)
     select 84532, token_id, 'agent', $1, id, $2, $2, 1, 0, $2, 'listed' from agent where home_node = $3`,
    [baseUrl, registrar, nodeId],
  );
  const tokens = await node.ctx.db.query<{ id: string; tokenId: string }>(
    '',
    'select id, token_id::text as "tokenId" from agent',
  );
  const tokenOf = new Map(tokens.map((each) => [each.id, each.tokenId]));
  files = ids.map((id) => agentFile({ baseUrl, id, tokenId: tokenOf.get(id) ?? '', owner: registrar }));

  const online = async () => (await node.request('GET', '/agents?status=online&limit=1')).body.data.total;
  const matching = async (query: object) =>
    (await node.request('POST', '/agents/search', { body: { query, limit: 1 } })).body.data.total;
  server.answers.set('/network/agents', json({}, 500));
  const leftMs = await untilSo('the node is offline', async () => (await seenBy(node, baseUrl)).status === 'offline');
  const offlineMs = await untilSo('all are offline', async () => (await online()) === ours.length);
  expect(await matching({ text: 'agent', online: true })).toBe(ours.length);
  expect(await matching({ online: false, reputation: { min: 1 } })).toBe(COUNT);

  server.answers.set('/network/agents', feed);
  const backMs = await untilSo('all are online', async () => (await online()) === COUNT + ours.length);
  expect(await matching({ text: 'parrot', online: true })).toBe(COUNT);
  expect(await matching({ text: 'agent' })).toBe(ours.length);
  expect(await matching({ capabilities: { all: ['talking'] }, verified: true })).toBe(COUNT);
  expect(await matching({ capabilities: { all: ['testing'] } })).toBe(ours.length);
  expect((await seenBy(node, baseUrl)).agents).toBe(COUNT);
  // biome-ignore lint/suspicious/noConsole: a measurement, for whoever runs it
  console.log({ agents: COUNT, leftMs, offlineMs, backMs });
  expect(offlineMs + backMs).toBeLessThan(60_000);
}, 180_000);

it('many nodes that leave at once are announced to many listeners', async () => {
  const { db } = node.ctx;
  const baseUrl = `${server.origin}/at-once/`;
  const listeners = await insertListeners(100);
  // More events than one transaction may have.
  const nodes = Array.from({ length: 45 }, (_, nth) => ({ token: 2_000_000 + nth, url: baseUrl + nth }));
  const given = [JSON.stringify(nodes), node.ctx.registry.chainId];
  const of = 'from json_to_recordset($1::json) as r(token numeric, url text)';
  await db.transaction(async (tx) => {
    await tx.query(
      '',
      `insert into network_node (id, chain_id, token_id, base_url, label, version, wallet, account_id, status, next_check_at, joined_at, last_seen_at)
       select 'nod_' || r.token, $2, r.token, r.url, 'hostile', '1', '0x' || lpad(r.token::text, 40, '0'), $3, 'online',
              now() + interval '1 day', now(), now() ${of}`,
      [...given, listeners[0]],
    );
    await tx.query(
      '',
      `insert into network_entry (chain_id, token_id, kind, base_url, owner, registered_by, uri_block, uri_index, uri_by, state)
       select $2, r.token, 'node', r.url, '0x', '0x', 1, 0, '0x', 'listed' ${of}`,
      given,
    );
    await tx.query('', `insert into registry_change (chain_id, token_id) select $2, r.token ${of}`, given);
  });
  const countOf = async (sql: string, params: unknown[]) =>
    Number((await db.query<{ n: bigint }>('', sql, params))[0]?.n);
  const listed = "select count(*) as n from network_node where base_url like $1 || '%' and is_listed";
  await untilSo('all have left', async () => (await countOf(listed, [baseUrl])) === 0);
  const told = "select count(*) as n from event where type = 'network.node_left' and account_id = any($1)";
  expect(await countOf(told, [listeners])).toBe(nodes.length * listeners.length);
});

/** Accounts with an endpoint that names the event; it is paused, so nothing is sent. */
async function insertListeners(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, nth) => `acc_listener${nth}`);
  await node.ctx.db.transaction(async (tx) => {
    await tx.query(
      '',
      `insert into account (id, address, plan, created_at)
       select id, '0x' || lpad(nth::text, 40, '0'), 'free', now() from unnest($1::text[]) with ordinality as n(id, nth)`,
      [ids],
    );
    await tx.query(
      '',
      `insert into webhook (id, account_id, kind, url, description, event_types, status, secret_sealed, paused_until, created_at)
       select 'whk_' || id, id, 'endpoint', 'http://127.0.0.1:1/', '', array['network.node_left'], 'enabled', '', now() + interval '1 day', now()
         from unnest($1::text[]) as id`,
      [ids],
    );
  });
  return ids;
}
