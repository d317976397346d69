import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import {
  findAccountContradictions,
  findLedgerContradictions,
} from '../../../src/invocations/audit/money-audit-store.ts';
import { silentLog } from '../../../src/lib/log/log.ts';
import { sumWallet } from '../../../src/payments/ledger/ledger-total-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../src/db/migrations');

let database: TestDatabase;
let db: Database;
let directory: string;
beforeAll(async () => {
  database = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'agent-network-before-'));
  db = openDatabase(database.url, { max: 2, log: silentLog });
});
afterAll(async () => {
  await db.close();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

it('numbers the transfers that were there, with the balances that they left, and sums them up', async () => {
  await db.pool.query('drop schema public cascade; create schema public');
  for (const name of await readdir(MIGRATIONS))
    if (name < '0014') await cp(join(MIGRATIONS, name), join(directory, name));
  await migrate(database.url, silentLog, { directory });
  await db.pool.query(`
    insert into ledger_account (id, kind, address, posted_micro, held_micro, created_at)
    values ('a', 'payer', 'a', 70, 20, now()), ('b', 'payer', 'b', 30, 0, now());
    insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at)
    values ('1', 'wallet', 'a', 120, 'deposit', 'x', '2026-11-01'), ('3', 'a', 'b', 10, 'charge', 'x', '2026-11-02'),
           ('2', 'a', 'b', 20, 'charge', 'x', '2026-11-02'), ('4', 'a', 'outgoing', 20, 'refund', 'x', '2026-11-03'),
           ('5', 'outgoing', 'wallet', 20, 'payout', 'x', '2026-11-04');
    insert into hold (id, ledger_account_id, amount_micro, created_at) values ('h', 'a', 20, '2026-11-05');`);
  await migrate(database.url, silentLog);
  const { rows } = await db.pool.query(
    `select id, debit_sequence as d, debit_balance_micro as db, credit_sequence as c, credit_balance_micro as cb from transfer order by id`,
  );
  expect(rows).toEqual([
    { id: '1', d: null, db: null, c: 1n, cb: 120n },
    { id: '2', d: 2n, db: 100n, c: 1n, cb: 20n },
    { id: '3', d: 3n, db: 90n, c: 2n, cb: 30n },
    { id: '4', d: 4n, db: 70n, c: null, cb: null },
    { id: '5', d: null, db: null, c: null, cb: null },
  ]);
  expect(await sumWallet(db)).toBe(100n);
  expect(await findLedgerContradictions(db)).toEqual([]);
  expect(await findAccountContradictions(db, { after: '', before: null, limit: 10 })).toEqual([]);
});
