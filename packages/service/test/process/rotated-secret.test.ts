import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sealedColumns } from '../../src/operator/sealed-store.ts';
import { askDatabase, contradictions } from '../support/books.ts';
import { at, type NodeCluster, startCluster } from '../support/node-cluster.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { type Client, newClient } from '../support/treasury.ts';

// A node whose operator changes SECRET_KEY: "old", then "new,old", then everything is sealed anew, then "new" alone. Nobody notices.

const [oldKey, newKey] = ['a'.repeat(32), 'b'.repeat(32)];
const service = join(import.meta.dirname, '../..');
let cluster: NodeCluster;
let agent: TestAgent;
let ann: Client;
let webhookId: string;
const secrets: unknown[] = [];
const receiver = createServer((request, response) => {
  request.resume();
  response.end();
});

async function checkThatNobodyNotices(SECRET_KEY: string) {
  const process = await cluster.startProcess({ SECRET_KEY });
  const node = at(cluster, process);
  const call = (key: string) =>
    node.request('POST', `/invoke/${agent.id}`, {
      key: ann.key,
      body: { task: 'Work.' },
      headers: { 'idempotency-key': key, 'x-sync': 'true' },
    });
  const [first, own] = [await call('the-first'), await call(`of-${SECRET_KEY}`)];
  expect([first.body.data, own.body.data]).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  const hook = await node.request('GET', `/account/webhooks/${webhookId}/secret`, { key: ann.key });
  secrets.push(hook.body.data.secret);
  const sent = await node.request('POST', `/account/webhooks/${webhookId}/test`, { key: ann.key, body: {} });
  expect(sent.body.data).toMatchObject({ status: 'delivered' });
  return { process, requestId: first.body.data.requestId, repeat: call };
}

beforeAll(async () => {
  cluster = await startCluster();
  const first = await cluster.startProcess({ SECRET_KEY: oldKey });
  const node = at(cluster, first);
  agent = await startTestAgent(node, { perRequest: '0.05' });
  ann = await newClient(node, '1');
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const body = { url, eventTypes: ['agent.owner_changed'] };
  webhookId = (await node.request('POST', '/account/webhooks', { key: ann.key, body })).body.data.webhookId;
  await first.terminate();
});
afterAll(async () => {
  expect(await contradictions(cluster.databaseUrl)).toEqual([]);
  receiver.close();
  await agent.die();
  await cluster.stop();
});

const reseal = (SECRET_KEY: string) =>
  promisify(execFile)(process.execPath, [join(service, 'scripts/operator.ts'), 'reseal'], {
    env: { PATH: process.env.PATH, DATABASE_URL: cluster.databaseUrl, SECRET_KEY },
  });

describe('a change of SECRET_KEY', () => {
  it('keeps agents, webhooks and calls under their keys, also once the old key is removed', async () => {
    const before = await checkThatNobodyNotices(oldKey);
    await before.process.terminate();
    const both = await checkThatNobodyNotices(`${newKey},${oldKey}`);
    // A row that is lost: the call is found by the id that the old secret derived.
    await askDatabase(cluster.databaseUrl, `delete from idempotency where key = 'the-first'`);
    const { body } = await both.repeat('the-first');
    expect(body.data.requestId).toBe(before.requestId);
    const { resealed } = JSON.parse((await reseal(`${newKey},${oldKey}`)).stdout);
    expect(resealed).toContainEqual({ column: 'agent.token_sealed', sealedAnew: 1, unreadable: 0 });
    const again = JSON.parse((await reseal(newKey)).stdout).resealed;
    for (const each of again) expect(each).toMatchObject({ sealedAnew: 0, unreadable: 0 });
    await both.process.terminate();
    const after = await checkThatNobodyNotices(newKey);
    expect([both.requestId, after.requestId]).toEqual([before.requestId, before.requestId]);
    expect(new Set(secrets).size).toBe(1);
    expect(agent.calls).toHaveLength(4);
  });

  it('has a list of every sealed column', async () => {
    const found = await askDatabase<{ table: string; column: string }>(
      cluster.databaseUrl,
      `select table_name as table, column_name as column from information_schema.columns
        where table_schema = 'public' and data_type = 'bytea' and column_name like '%sealed' order by 1, 2`,
    );
    const listed = sealedColumns.toSorted((a, b) => (`${a.table} ${a.column}` < `${b.table} ${b.column}` ? -1 : 1));
    expect(found).toEqual(listed);
  });

  it('is reported while something is sealed with a key that is not named', async () => {
    const refused = await reseal('c'.repeat(32)).then(
      () => expect.fail('it was called done'),
      (error) => error,
    );
    expect(refused.code).toBe(1);
    const { resealed } = JSON.parse(refused.stdout);
    expect(resealed).toContainEqual({ column: 'webhook.secret_sealed', sealedAnew: 0, unreadable: 1 });
  });
});
