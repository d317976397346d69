import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
import { seenBy, untilSo } from '../../support/network.ts';
import { newOwner, registerOnChain } from '../../support/registry-actions.ts';
import { agentFile, nodeFile, otherAgentId } from './support/files.ts';
import { type HostileServer, json, startHostileServer } from './support/hostile-server.ts';

const FAKES = 3000;
const wellKnown = '/.well-known/agent-network.json';

let node: Harness;
let server: HostileServer;
let hanging: Server;
/** Of a site of its own, which never answers. */
let dead: string;

beforeAll(async () => {
  server = await startHostileServer();
  hanging = createServer(() => undefined).listen(0, '127.0.0.2');
  await once(hanging, 'listening');
  dead = `http://127.0.0.2:${(hanging.address() as AddressInfo).port}`;
  node = await startHarness({ followsRegistry: true });
});
afterAll(async () => {
  await node?.stop();
  await server?.stop();
  hanging?.closeAllConnections();
  hanging?.close();
});

beforeEach(() => node.ctx.db.query('', `delete from network_entry where base_url like $1 || '%'`, [dead]));

let newcomers = 0;
async function register(change: object = {}) {
  const path = `/newcomer-${++newcomers}`;
  const baseUrl = server.origin + path;
  const registrar = newOwner();
  const tokenId = await registerOnChain(node.rpcUrl, registrar, baseUrl + wellKnown);
  const file = nodeFile({ baseUrl, tokenId });
  server.answers.set(path + wellKnown, json({ ...file, agentNetwork: { ...file.agentNetwork, ...change } }));
  const data = { agents: [], hasMore: false, cursor: '' };
  server.answers.set(`${path}/network/agents`, json({ status: 'success', data }));
  const tookMs = await untilSo('a newcomer is listed', async () => (await seenBy(node, baseUrl)) !== null);
  return { path, baseUrl, tokenId, registrar, tookMs };
}

it.each([
  ['one key', `'0x' || repeat('e', 40)`],
  ['a key each, all at one site', `'0x' || lpad(to_hex(n), 40, '0')`],
])('thousands of nodes that never answer, of %s, do not delay an honest newcomer', async (_what, key) => {
  await node.ctx.db.query(
    '',
    `insert into network_entry (chain_id, token_id, kind, base_url, owner, registered_by, uri_block, uri_index, uri_by, state, next_try_at)
     select 84532, 1000000 + n, 'node', $1 || '/' || n, ${key}, ${key}, 1, n, ${key}, 'new', now() - interval '1 hour'
       from generate_series(1, ${FAKES}) as n`,
    [dead],
  );
  const taken = `select from network_entry where base_url like $1 || '%' and next_try_at > now()`;
  await untilSo('the node asks them', async () => (await node.ctx.db.query('', taken, [dead])).length > 0);
  const { tookMs } = await register();
  expect(tookMs).toBeLessThan(10_000);
});

it('a file that names the wallet of a stranger changes nothing for the account of that wallet', async () => {
  const victim = await node.newAccount();
  const limitOf = async () =>
    (await node.request('GET', '/account', { key: victim.key })).headers.get('x-ratelimit-limit');
  const limit = await limitOf();
  const evil = await register({ wallet: victim.address });
  const id = otherAgentId();
  const path = `${evil.path}/agents/${id}/registration.json`;
  const tokenId = await registerOnChain(node.rpcUrl, evil.registrar, server.origin + path);
  server.answers.set(path, json(agentFile({ ...evil, tokenId, id, owner: evil.registrar })));
  await untilSo('its agent is listed', async () => (await node.request('GET', `/agents/${id}`)).status === 200);
  expect(await limitOf()).toBe(limit);
  const called = await node.request('POST', `/invoke/${id}`, { key: victim.key, body: { task: 'hello' } });
  expect(called.status).not.toBe(404);
  const ofVictim = await node.ctx.db.query('', 'select from agent where id = $1 and account_id = $2', [
    id,
    victim.accountId,
  ]);
  expect(ofVictim).toEqual([]);
});
