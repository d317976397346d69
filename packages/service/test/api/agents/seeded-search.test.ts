import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seedSearch } from '../../../../../bench/seed-search.ts';
import { findAgentRow } from '../../../src/agents/agent-store.ts';
import { foldCounts } from '../../../src/agents/reputation/fold-counts.ts';
import { writeListing, writeTerms } from '../../../src/agents/search/listing-store.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { silentLog } from '../../../src/lib/log/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const AGENTS = 60;
/** So that agents stand in two blocks. */
const FIRST_SLOT = 65_536 - 30;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 2, log: silentLog });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const derived = {
  agent_search: 'x',
  agent_response: 'x',
  agent_listing: 'x',
  agent_bits: '(x.term, x.block, x.dense, x.sparse)',
  agent_count: '(x.term, x.is_online, x.is_verified, x.change)',
};

async function read(client: pg.Pool): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [table, row] of Object.entries(derived)) {
    const { rows } = await client.query<{ row: string }>(
      `select md5((${row})::text) as row from ${table} x order by 1`,
    );
    found[table] = rows.map((each) => each.row);
  }
  return found;
}

it('agents seeded for the bench are found by exactly what listing them one by one writes', {
  timeout: 60_000,
}, async () => {
  const restart = `alter table agent_search alter column slot restart with ${FIRST_SLOT}`;
  await db.pool.query(restart);
  await seedSearch(database.url, AGENTS);
  const seeded = await read(db.pool);
  const { rows } = await db.pool.query<{ agent_id: string }>('select agent_id from agent_search order by slot');
  expect(rows.length).toBe(AGENTS);
  await db.pool.query(`truncate ${Object.keys(derived).join(', ')}, agent_toggle`);
  await db.pool.query(restart);
  for (const { agent_id: id } of rows) {
    await db.transaction(async (tx) => {
      const agent = await findAgentRow(tx, id);
      if (!agent) throw new Error(`${id} is gone`);
      await writeListing(tx, agent);
      await writeTerms(tx, agent);
    });
  }
  await foldCounts({ db });
  const listed = await read(db.pool);
  for (const table of Object.keys(derived)) expect(listed[table], table).toEqual(seeded[table]);
});
