import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../support/books.ts';
import { at, type NodeCluster, startCluster } from '../support/node-cluster.ts';
import { startTestAgent, type TestAgent, untilStatus } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../support/treasury.ts';

// A node whose SECRET_KEY was changed, because it was lost or stolen: what it had sealed is lost, and everybody is told so.

let cluster: NodeCluster;
let node: ReturnType<typeof at>;
let agent: TestAgent;
let ann: Client;
let webhookId: string;
let withHeadersId: string;
const delivered: (string | undefined)[] = [];
const receiver = createServer((request, response) => {
  delivered.push(request.headers['webhook-signature']?.toString());
  request.resume();
  response.end();
});
const body = { task: 'once' };
const keyed = () => ({ key: ann.key, body, headers: { 'idempotency-key': 'before-the-change', 'x-sync': 'true' } });

beforeAll(async () => {
  cluster = await startCluster();
  const first = await cluster.startProcess({ SECRET_KEY: 'a'.repeat(32) });
  node = at(cluster, first);
  agent = await startTestAgent(node, { perRequest: '0.05' });
  ann = await newClient(node, '1');
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const made = await node.request('POST', '/account/webhooks', {
    key: ann.key,
    body: { url, eventTypes: ['agent.owner_changed'] },
  });
  webhookId = made.body.data?.webhookId;
  const withHeaders = { name: 'x', capabilities: ['x'], rates: { perRequest: '0' }, endpoint: 'http://127.0.0.1:1/' };
  const upstream = { headers: { authorization: 'Bearer of-the-owner' } };
  const added = await node.request('POST', '/agents', { key: ann.key, body: { ...withHeaders, upstream } });
  withHeadersId = added.body.data?.id;
  expect((await node.request('POST', `/invoke/${agent.id}`, keyed())).body.data).toMatchObject({ status: 'completed' });
  await first.terminate();
  node = at(cluster, await cluster.startProcess({ SECRET_KEY: 'b'.repeat(32) }));
});
afterAll(async () => {
  expect(await contradictions(cluster.databaseUrl)).toEqual([]);
  receiver.close();
  await agent.die();
  await cluster.stop();
});

it('a repetition under an Idempotency-Key returns that its call was done, and does nothing again', async () => {
  const [calls, before] = [agent.calls.length, await balanceOf(node, ann.key)];
  const again = await node.request('POST', `/invoke/${agent.id}`, keyed());
  const error = { code: 'CONFLICT', details: { reason: 'answer_lost' } };
  expect(again).toMatchObject({ status: 409, body: { error } });
  expect(again.body.error.message).toContain('not done again');
  expect(agent.calls).toHaveLength(calls);
  expect(await balanceOf(node, ann.key)).toEqual(before);
});

describe('an agent with a lost identityToken', () => {
  it('fails calls at once instead of at their deadline, and the money is back', async () => {
    const [calls, before] = [agent.calls.length, await balanceOf(node, ann.key)];
    const headers = { 'x-sync': 'true' };
    const { body: told } = await node.request('POST', `/invoke/${agent.id}`, { key: ann.key, body, headers });
    expect(told.data).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'agent_unreachable' } });
    expect(told.data.error.message).toContain('SECRET_KEY');
    expect(agent.calls).toHaveLength(calls);
    expect(await balanceOf(node, ann.key)).toEqual(before);
  });

  it('is taken out by its next check, however alive its endpoint is', async () => {
    await askDatabase(cluster.databaseUrl, 'update agent set next_check_at = now() where id = $1', [agent.id]);
    await untilStatus(node, agent.id, 'offline');
  });

  it('shows that reason if it was never proven, and its next check is at least a minute away', async () => {
    await askDatabase(cluster.databaseUrl, 'update agent set next_check_at = now() where id = $1', [withHeadersId]);
    const path = `/account/agents?agentId=${withHeadersId}`;
    const told = async () => (await node.request('GET', path, { key: ann.key })).body.data.agents[0].offline;
    await expect.poll(async () => (await told()).reason).toContain('SECRET_KEY');
    expect((await told()).advice).toContain('newIdentityToken');
    const waits = `select next_check_at >= last_ping_at + interval '1 minute' as waits from agent where id = $1`;
    expect(await askDatabase(cluster.databaseUrl, waits, [withHeadersId])).toEqual([{ waits: true }]);
  });
});

describe('an agent with lost upstream headers', () => {
  const update = (change: object) =>
    node.request('PUT', `/agents/${withHeadersId}`, { key: ann.key, body: change }).then(({ status }) => status);

  it('can be changed in all that does not concern its endpoint, and gets headers again', async () => {
    expect(await update({ description: 'New.', rates: { perRequest: '0.10' } })).toBe(200);
    expect(await update({ upstream: { headers: { authorization: 'Bearer given-again' } } })).toBe(200);
  });
});

describe('a webhook with a lost secret', () => {
  const test = async () =>
    (await node.request('POST', `/account/webhooks/${webhookId}/test`, { key: ann.key, body: {} })).body.data;

  it('gets no unsigned deliveries, and its owner is asked to rotate the secret', async () => {
    const shown = await node.request('GET', `/account/webhooks/${webhookId}/secret`, { key: ann.key });
    expect(shown).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('rotate it') } } });
    const sent = await test();
    expect(sent).toMatchObject({ status: 'failed' });
    expect(sent.attempts[0].error).toContain('Rotate the secret');
    expect(delivered).toEqual([]);
  });

  it('gets its messages from the rotation on, signed with the new secret alone', async () => {
    await node.request('POST', `/account/webhooks/${webhookId}/rotate`, { key: ann.key });
    expect(await test()).toMatchObject({ status: 'delivered' });
    expect(delivered).toEqual([expect.stringMatching(/^v1,\S+$/)]);
  });
});
