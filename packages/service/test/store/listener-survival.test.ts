import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { silentLog as log } from '../../src/lib/telemetry/log.ts';
import { openClient } from '../../src/store/connection-pool.ts';
import { openDatabase } from '../../src/store/database.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

/** The message of a server that ends a connection, as a restart sends it. */
const fatal = errorMessage({
  S: 'FATAL',
  V: 'FATAL',
  C: '57P01',
  M: 'terminating connection due to administrator command',
});

function errorMessage(fields: Record<string, string>): Buffer {
  const body = Buffer.concat([
    ...Object.entries(fields).map(([name, value]) => Buffer.from(`${name}${value}\0`)),
    Buffer.from([0]),
  ]);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Whether what the server sends ends with ReadyForQuery. */
const isReadyForQuery = (chunk: Buffer) => chunk.length >= 6 && chunk.at(-6) === 0x5a && chunk.at(-2) === 5;

async function startProxy() {
  const proxy = await startDatabaseProxy(testDatabase.url);
  onTestFinished(() => proxy.stop());
  return proxy;
}

test('a FATAL that arrives together with ReadyForQuery does not end the process: the listener connects again', async () => {
  const proxy = await startProxy();
  const struck = new Set<number>();
  proxy.rewrite((chunk, connection) => {
    if (connection > 2 || struck.has(connection) || !isReadyForQuery(chunk)) return chunk;
    struck.add(connection);
    return Buffer.concat([chunk, fatal]);
  });
  const db = openDatabase(proxy.url, { max: 2, log });
  onTestFinished(() => db.close());
  const direct = openDatabase(testDatabase.url, { max: 1, log });
  onTestFinished(() => direct.close());
  const heard: (string | null)[] = [];
  await db.listen('fatal_channel', (payload) => heard.push(payload));
  expect(struck).toEqual(new Set([1, 2]));
  const notify = () => direct.query('notify', `select pg_notify('fatal_channel', 'heard')`);
  await expect.poll(async () => (await notify()) && heard).toContain('heard');
});

test('a FATAL that arrives together with ReadyForQuery does not end the process: pooled and single connections', async () => {
  const proxy = await startProxy();
  const struck = new Set<number>();
  proxy.rewrite((chunk, connection) => {
    if (connection > 2 || !isReadyForQuery(chunk)) return chunk;
    struck.add(connection);
    return Buffer.concat([chunk, fatal]);
  });
  const lost: Error[] = [];
  const client = await openClient({ connectionString: proxy.url }, (error) => lost.push(error));
  await expect
    .poll(() => lost.map(({ message }) => message))
    .toContain('terminating connection due to administrator command');
  await client.end();
  const db = openDatabase(proxy.url, { max: 2, log });
  onTestFinished(() => db.close());
  await expect.poll(() => db.query('alive', 'select 1 as one').catch(() => 'lost')).toEqual([{ one: 1 }]);
  expect(struck).toEqual(new Set([1, 2]));
});

test('a listening connection that the network swallowed without a word is replaced', async () => {
  const proxy = await startProxy();
  const db = openDatabase(proxy.url, { max: 2, log });
  onTestFinished(() => db.close());
  const heard: (string | null)[] = [];
  await db.listen('silent_channel', (payload) => heard.push(payload));
  proxy.set('silent');
  proxy.set('open');
  await expect.poll(() => heard).toEqual([null]);
  await db.query('notify-again', `select pg_notify('silent_channel', 'again')`);
  await expect.poll(() => heard).toEqual([null, 'again']);
});
