import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findNode, type NetworkNode } from '../../../src/network/node-store.ts';
import { readFeed } from '../../../src/network/read-feed.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { seenBy, untilSo } from '../../support/network.ts';
import { newOwner, registerOnChain, registryActions } from '../../support/registry-actions.ts';
import { agentFile, nodeFile, otherAgentId } from './support/files.ts';
import { type HostileServer, json, startHostileServer } from './support/hostile-server.ts';

/** Checks of entries that take a while, and what changes meanwhile. */
const wellKnown = '/.well-known/agent-network.json';
let node: Harness;
let server: HostileServer;

beforeAll(async () => {
  server = await startHostileServer();
  node = await startHarness({ followsRegistry: true, env: { NETWORK_POLL_MS: '200' } });
});
afterAll(async () => {
  await node?.stop();
  await server?.stop();
});

async function joinNode(path: string) {
  const baseUrl = server.origin + path;
  const registrar = newOwner();
  const tokenId = await registerOnChain(node.rpcUrl, registrar, baseUrl + wellKnown);
  /** Told once: whoever has this cursor gets nothing more. */
  const tell = (agents: readonly unknown[], cursor: string) =>
    server.answers.set(`${path}/network/agents`, (message, response) => {
      const isKnown = new URL(message.url ?? '', 'http://x').searchParams.get('cursor') === cursor;
      json({ status: 'success', data: { agents: isKnown ? [] : agents, hasMore: false, cursor } })(message, response);
    });
  server.answers.set(path + wellKnown, json(nodeFile({ baseUrl, tokenId })));
  tell([], 'a');
  await untilSo('the node is listed', async () => (await seenBy(node, baseUrl)) !== null);
  return { path, baseUrl, registrar, tell };
}

/** Answers wait here until they are given. */
function holdAnswers(path: string): ServerResponse[] {
  const held: ServerResponse[] = [];
  server.answers.set(path, (_message, response) => void held.push(response));
  return held;
}

const give = (held: readonly ServerResponse[], file: unknown) => {
  for (const response of held) response.end(JSON.stringify(file));
};
const shown = async (id: string) => (await node.request('GET', `/agents/${id}`)).body.data;

async function entryOf(tokenId: string) {
  const [row] = await node.ctx.db.query<{ state: string; reason: string | null; owner: string }>(
    '',
    'select state, reason, owner from network_entry where token_id = $1',
    [tokenId],
  );
  return row;
}

it('an agent whose token is transferred while its file is read is judged by the new holder', async () => {
  const home = await joinNode('/transferred');
  const [id, claimed, buyer] = [otherAgentId(), newOwner(), newOwner()];
  const path = `${home.path}/agents/${id}/registration.json`;
  const held = holdAnswers(path);
  const tokenId = await registerOnChain(node.rpcUrl, home.registrar, server.origin + path);
  await untilSo('its file is asked for', async () => held.length > 0);
  const file = agentFile({ baseUrl: home.baseUrl, tokenId, id, owner: claimed });
  server.answers.set(path, json(file));
  await registryActions(node.rpcUrl).transfer(home.registrar, buyer, BigInt(tokenId));
  await untilSo('the transfer is seen', async () => (await entryOf(tokenId))?.owner === buyer);
  give(held, file);
  await untilSo('it is judged again', async () => (await entryOf(tokenId))?.state !== 'new');
  expect(await entryOf(tokenId)).toMatchObject({ state: 'ignored', reason: 'other_owner' });
  expect(await shown(id)).toBeUndefined();
});

it('a file that was read before the feed told of other types is read again', async () => {
  const home = await joinNode('/retyped');
  const id = otherAgentId();
  const path = `${home.path}/agents/${id}/registration.json`;
  const tokenId = await registerOnChain(node.rpcUrl, home.registrar, server.origin + path);
  const file = agentFile({ baseUrl: home.baseUrl, tokenId, id, owner: home.registrar });
  server.answers.set(path, json(file));
  await untilSo('it is listed', async () => (await shown(id)) !== undefined);
  const held = holdAnswers(path);
  await node.ctx.db.query('', 'update network_entry set next_try_at = $2 where token_id = $1', [
    tokenId,
    node.ctx.clock.now(),
  ]);
  await untilSo('its file is asked for', async () => held.length > 0);
  const types = { inputSchema: { type: 'object' } };
  const typed = { ...file.agentNetwork, typesVersion: 'typ_2' };
  server.answers.set(path, json({ ...file, agentNetwork: { ...typed, types: JSON.stringify(types) } }));
  home.tell([{ ...file, name: 'Typed', agentNetwork: typed }], 'b');
  await untilSo('the feed is read', async () => (await shown(id)).name === 'Typed');
  give(held, file);
  await untilSo('it is read again', async () => {
    const { name, types: told } = await shown(id);
    return name === 'Parrot' && JSON.stringify(told) === JSON.stringify(types);
  });
});

it('a file that was read before the feed told of a change undoes nothing', async () => {
  const home = await joinNode('/renamed');
  const id = otherAgentId();
  const path = `${home.path}/agents/${id}/registration.json`;
  const tokenId = await registerOnChain(node.rpcUrl, home.registrar, server.origin + path);
  const file = agentFile({ baseUrl: home.baseUrl, tokenId, id, owner: home.registrar });
  server.answers.set(path, json(file));
  await untilSo('it is listed', async () => (await shown(id)) !== undefined);
  const held = holdAnswers(path);
  await node.ctx.db.query('', 'update network_entry set next_try_at = $2 where token_id = $1', [
    tokenId,
    node.ctx.clock.now(),
  ]);
  await untilSo('its file is asked for', async () => held.length > 0);
  const renamed = { ...file, name: 'Renamed' };
  home.tell([renamed], 'b');
  await untilSo('the feed is read', async () => (await shown(id)).name === 'Renamed');
  server.answers.set(path, json(renamed));
  const before = server.asked.get(path) ?? 0;
  give(held, file);
  await untilSo('its file is read again', async () => (server.asked.get(path) ?? 0) > before);
  expect((await shown(id)).name).toBe('Renamed');
});

it('types that the feed told of are read from the file, also when the process died before it noted that', async () => {
  const home = await joinNode('/noted');
  const id = otherAgentId();
  const path = `${home.path}/agents/${id}/registration.json`;
  const tokenId = await registerOnChain(node.rpcUrl, home.registrar, server.origin + path);
  const file = agentFile({ baseUrl: home.baseUrl, tokenId, id, owner: home.registrar });
  server.answers.set(path, json(file));
  await untilSo('it is listed', async () => (await shown(id)) !== undefined);
  // The node's own poll waits, so that the one that dies is alone.
  const polls = holdAnswers(`${home.path}/network/agents`);
  await untilSo('the feed is polled', async () => polls.length > 0);
  const types = { inputSchema: { type: 'object' } };
  const typed = { ...file.agentNetwork, typesVersion: 'typ_2' };
  server.answers.set(path, json({ ...file, agentNetwork: { ...typed, types: JSON.stringify(types) } }));
  const page = [{ ...file, agentNetwork: typed }];
  home.tell(page, 'b');
  const query: typeof node.ctx.db.query = async (name, ...rest) => {
    if (name === 'wake-entries') throw new Error('it dies here');
    return node.ctx.db.query(name, ...rest);
  };
  const dying = { ...node.ctx, db: { ...node.ctx.db, query } };
  const polled = (await findNode(node.ctx.db, home.baseUrl)) as NetworkNode;
  await expect(readFeed(dying, polled, AbortSignal.timeout(60_000))).rejects.toThrow('it dies here');
  give(polls, { status: 'success', data: { agents: [], hasMore: false, cursor: 'a' } });
  await untilSo('its types are read', async () => JSON.stringify((await shown(id)).types) === JSON.stringify(types));
});
