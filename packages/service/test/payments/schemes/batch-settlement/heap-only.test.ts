import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../support/test-database.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client(database.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** The columns that indexes of a table name: as keys, in expressions, or in the condition of a partial index. */
const INDEXED = `
  select distinct a.attname as column from pg_index i
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = d.refobjsubid
   where i.indrelid = $1::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = i.indrelid and d.refobjsubid > 0`;

async function indexedColumns(table: string): Promise<string[]> {
  const { rows } = await client.query<{ column: string }>(INDEXED, [table]);
  return rows.map(({ column }) => column);
}

/** Written by each call, when it is admitted or ends. */
const changedByCalls = [
  ['channel', 'charged_micro'],
  ['channel', 'reserved_micro'],
  ['channel', 'signed_micro'],
  ['channel', 'signature'],
  ['channel', 'changed_at'],
  ['channel', 'turn_request'],
  ['channel', 'turn_until'],
  ['channel_charge', 'charged_micro'],
  ['channel_charge', 'ended_at'],
] as const;

test.each(changedByCalls)('no index of %s names %s, so that its updates stay in their page', async (table, column) => {
  const columns = await indexedColumns(table);
  expect(columns).not.toContain(column);
  expect(columns).toContain(table === 'channel' ? 'owes' : 'created_at');
});

const sums = `id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt, created_at, changed_at,
  balance_micro, charged_micro, reserved_micro, claimed_micro, lost_micro, signed_micro`;

test.each([
  {
    standing: 'unused',
    of: [10, 0, 0, 0, 0],
    flags: { has_rest: true, owes: false, is_under_way: false, is_lossy: false },
  },
  {
    standing: 'in use',
    of: [10, 0, 4, 0, 0],
    flags: { has_rest: true, owes: false, is_under_way: true, is_lossy: false },
  },
  {
    standing: 'owing',
    of: [10, 6, 0, 2, 0],
    flags: { has_rest: true, owes: true, is_under_way: true, is_lossy: false },
  },
  {
    standing: 'claimed',
    of: [10, 10, 0, 10, 0],
    flags: { has_rest: false, owes: false, is_under_way: false, is_lossy: false },
  },
  {
    standing: 'overdrawn',
    of: [4, 6, 0, 0, 0],
    flags: { has_rest: false, owes: true, is_under_way: true, is_lossy: true },
  },
  {
    standing: 'lost',
    of: [4, 6, 0, 4, 2],
    flags: { has_rest: false, owes: false, is_under_way: false, is_lossy: true },
  },
  {
    standing: 'paid again',
    of: [9, 6, 0, 4, 2],
    flags: { has_rest: true, owes: false, is_under_way: false, is_lossy: true },
  },
])('a channel that is $standing has the flags of its sums', async ({ standing, of, flags }) => {
  const [balance, charged, reserved, claimed, lost] = of;
  const { rows } = await client.query(
    `insert into channel (${sums}) values ($1, 1, 'p', 'p', 'r', 'r', 't', 900, 's', now(), now(), $2, $3, $4, $5, $6, 100)
     returning has_rest, owes, is_under_way, is_lossy`,
    [`channel ${standing} ${process.hrtime.bigint()}`, balance, charged, reserved, claimed, lost],
  );
  expect(rows).toEqual([flags]);
});
