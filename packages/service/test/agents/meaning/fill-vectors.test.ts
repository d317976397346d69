import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createVectorFiller } from '../../../src/agents/meaning/fill-vectors.ts';
import type { TextModel } from '../../../src/agents/meaning/text-model.ts';
import { findVectors, HAS_DUE_VECTORS, listVectors } from '../../../src/agents/meaning/vector-store.ts';
import { createListing } from '../../../src/agents/search/listing.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { silentLog as log } from '../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createReplica } from '../../../src/store/replica/replica.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const COUNT = 12;
const ids = Array.from({ length: COUNT }, (_, n) => `agt_${String(n).padStart(2, '0')}`);

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { log });
  await db.pool.query(
    `insert into account (id, address, plan, created_at) values ('acc_a', '0x${'1'.repeat(40)}', 'free', now())`,
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await db.pool.query('delete from former_terms');
  await db.pool.query('delete from agent');
  await db.pool.query(
    `insert into agent (id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers,
       endpoint, metadata, status, reputation, token_hash, token_sealed, last_seen_at, created_at, updated_at)
     select id, 'acc_a', '0x', 'Name of ' || id, '', '{text}', 0, 0, '{}', 'http://x', '{}', 'online', 400, convert_to(id, 'utf8'), '', now(),
            now(), now() from unnest($1::text[]) as n(id)`,
    [ids],
  );
});

/** Reads each text as two numbers. `before`: is awaited first. */
function modelNamed(id: string, before: (texts: readonly string[]) => unknown = () => undefined) {
  const texts: string[] = [];
  const model: TextModel = {
    id,
    atOnce: 3,
    isQuick: () => true,
    ofSearch: async () => null,
    async ofAgents(asked) {
      texts.push(...asked);
      await before(asked);
      return asked.map((text) => (text.includes('unreadable') ? null : Float32Array.of(text.length, 1)));
    },
  };
  const filler = createVectorFiller({ db, clock, log }, model);
  /** A run ends after half a second, on a busy machine with some texts left. */
  const fillAll = async () => {
    do await filler.fill();
    while (await hasDue());
  };
  return { texts, filler, fillAll };
}

const vectorsOf = async (model: string) => (await listVectors(db, model, '', 100)).map(({ id }) => id);
const dueIds = async () =>
  (await db.pool.query('select agent_id from agent_vector where due_at is not null order by 1')).rows.map(
    ({ agent_id }) => agent_id,
  );
const hasDue = async () =>
  (await db.pool.query(`select ${HAS_DUE_VECTORS} as is_due from (select clock_timestamp() as now) given`)).rows[0]
    .is_due;

test('processes share the texts that are due: each is read once', async () => {
  expect(await hasDue()).toBe(true);
  const [one, other] = [modelNamed('a'), modelNamed('a')];
  await Promise.all([one.fillAll(), other.fillAll(), one.fillAll()]);
  const texts = [...one.texts, ...other.texts];
  expect(texts.toSorted()).toEqual(ids.map((id) => `Name of ${id}. text`));
  expect(await vectorsOf('a')).toEqual(ids);
  expect(await hasDue()).not.toBe(true);
});

test('a text that changes while it is read is read again', async () => {
  const changes = [
    `update agent set name = 'Another' where id = 'agt_04'`,
    `update agent set status = 'removed' where id = 'agt_05'`,
  ];
  const { texts, fillAll } = modelNamed('a', () => {
    const next = changes.shift();
    return next && db.pool.query(next);
  });
  await fillAll();
  expect(texts).toContain('Another. text');
  expect(await vectorsOf('a')).toEqual(ids.filter((id) => id !== 'agt_05'));
  expect(await dueIds()).toEqual([]);
  await db.pool.query(`update agent set status = 'offline' where id = 'agt_05'`);
  expect(await dueIds()).toEqual(['agt_05']);
});

test('only what belongs to the text makes it due', async () => {
  await modelNamed('a').fillAll();
  await db.pool.query(
    `update agent set status = 'offline', reputation = 1, per_request_micro = 5, metadata = '{"version":"1.0.0"}'`,
  );
  expect(await dueIds()).toEqual([]);
  const changes = [
    `metadata = '{"tags":["x"]}'`,
    `description = 'x'`,
    `capabilities = '{x}'`,
    `example_questions = '{x,y}'`,
    `name = 'x'`,
  ];
  for (const [nth, change] of changes.entries())
    await db.pool.query(`update agent set ${change} where id = $1`, [ids[nth]]);
  expect(await dueIds()).toEqual(ids.slice(0, changes.length));
});

test('a model that fails loses nothing: the texts are due again when the claim has ended', async () => {
  const { filler, texts } = modelNamed('a', () => Promise.reject(new Error('no')));
  await expect(filler.fill()).rejects.toThrow('no');
  await filler.fill();
  expect(texts).toHaveLength(3);
  expect(await dueIds()).toEqual(ids);
  await db.pool.query('update agent_vector set due_at = now() where due_at > now()');
  await modelNamed('a').fillAll();
  expect(await vectorsOf('a')).toEqual(ids);
});

test('another model reads all texts anew, and a text that it cannot read has no vector', async () => {
  await modelNamed('a').fillAll();
  await db.pool.query(`update agent set name = 'unreadable', capabilities = '{}' where id = 'agt_00'`);
  const { texts, filler, fillAll } = modelNamed('b');
  expect(filler.isRenewalDue()).toBe(true);
  await fillAll();
  expect(filler.isRenewalDue()).toBe(false);
  expect(texts).toHaveLength(COUNT);
  expect(await vectorsOf('a')).toEqual([]);
  expect(await vectorsOf('b')).toEqual(ids.slice(1));
  expect(await dueIds()).toEqual([]);
});

test('every process has the vectors of its model, as soon as they are stored', async () => {
  await modelNamed('a').fillAll();
  const replica = createReplica({ db, log, metrics: createMetrics() }, { maxAgeMs: 0 });
  const listing = createListing({ replica, nodeLabel: 'here', model: 'a' });
  await replica.start();
  const question = {
    wanted: { any: [], all: [], texts: [] },
    words: ['x'],
    filter: { isOnline: [true, false], isVerified: [true, false], limits: [] },
  };
  const newestMs = () => listing.read((index) => index.meaning(question).newestMs);
  const latest = async () => Math.max(...(await findVectors(db, 'a', ids)).map(({ storedMs }) => storedMs));
  const loaded = await newestMs();
  expect(loaded).toBe(await latest());
  await db.pool.query(`update agent set name = 'Another' where id = 'agt_04'`);
  await modelNamed('a').fillAll();
  expect(await newestMs()).toBe(await latest());
  expect(await newestMs()).toBeGreaterThan(loaded);
  replica.stop();
});
