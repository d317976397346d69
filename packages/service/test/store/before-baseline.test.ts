import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAgentRow } from '../../src/agents/agent-store.ts';
import { toDetail } from '../../src/agents/agent-view.ts';
import { findInvocation } from '../../src/calls/invocation-store.ts';
import { toRecord } from '../../src/calls/invocation-view.ts';
import { silentLog as log } from '../../src/lib/telemetry/log.ts';
import { findLedgerAccounts, type LedgerAccount } from '../../src/payments/ledger/ledger-store.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { askDatabase, contradictions } from '../support/books.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

/**
 * The database of a node of commit 7e95b59a after its examples (the schema, the record of 79 migrations, and the rows but those of keys and
 * of the chain), and what its API answered before it stopped.
 */
const DATABASE = join(import.meta.dirname, 'before-baseline.sql');
const ANSWERS = join(import.meta.dirname, 'before-baseline.json');

/** Whatever a database is made of beside its rows, with the definition of each part. */
const CATALOG = `
  with relation as (select oid, oid::regclass::text as name, relkind, reloptions from pg_class where relnamespace = 'public'::regnamespace)
  select kind, name, definition::text from (
    select 'relation' as kind, name, concat_ws(' ', relkind, reloptions) as definition from relation
    union all
    select 'column', concat_ws(' ', name, rank() over (partition by name order by attnum), attname),
           concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), 'identity:', attidentity, 'generated:', attgenerated,
             attcollation::regcollation, attstorage, attoptions)
      from pg_attribute a join relation r on r.oid = attrelid left join pg_attrdef d on adrelid = attrelid and adnum = attnum
     where attnum > 0 and not attisdropped
    union all
    select 'constraint', conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select 'index', indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index where indexrelid in (select oid from relation)
    union all
    select 'trigger', tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal and tgrelid in (select oid from relation)
    union all
    select 'function', oid::regprocedure::text, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select 'view', name, pg_get_viewdef(oid) from relation where relkind = 'v'
    union all
    select 'sequence', seqrelid::regclass::text, concat_ws(' ', seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle)
      from pg_sequence where seqrelid in (select oid from relation)
    union all
    select 'comment', name || ' ' || objsubid, description from pg_description join relation on oid = objoid and classoid = 'pg_class'::regclass
  ) part order by kind, name`;

interface Answers {
  readonly treasuries: readonly { readonly treasuryId: string }[];
  readonly requests: readonly { readonly requestId: string }[];
  /** Without what health checks change, and addresses of the node. */
  readonly agents: readonly { readonly id: string }[];
}

const toTreasury = ({ id, agentId, label, postedMicro, heldMicro }: LedgerAccount) => ({
  treasuryId: id,
  agentId,
  label,
  available: formatUsdc(postedMicro - heldMicro),
  held: formatUsdc(heldMicro),
});

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await askDatabase(database.url, 'drop schema public cascade; create schema public');
  await askDatabase(database.url, await readFile(DATABASE, 'utf8'));
  await migrate(database.url, log);
  db = openDatabase(database.url, { max: 2, log });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

test('a data folder of the last commit before the baseline opens with the same balances, requests and agents', async () => {
  const before = JSON.parse(await readFile(ANSWERS, 'utf8')) as Answers;
  const treasuries = await findLedgerAccounts(
    db,
    before.treasuries.map(({ treasuryId }) => treasuryId),
  );
  expect(treasuries.map(toTreasury)).toEqual(expect.arrayContaining([...before.treasuries]));
  for (const request of before.requests) {
    const found = await findInvocation(db, request.requestId);
    expect(found && toRecord(found)).toMatchObject(request);
  }
  for (const agent of before.agents) {
    const found = await findAgentRow(db, agent.id);
    expect(found && { ...toDetail(found, 'kept'), protocol: found.protocol }).toMatchObject(agent);
  }
  expect(await contradictions(database.url)).toEqual([]);
});

test('and has the schema of a new one from then on', async () => {
  const fresh = await createTestDatabase();
  try {
    expect(await askDatabase(database.url, CATALOG)).toEqual(await askDatabase(fresh.url, CATALOG));
  } finally {
    await fresh.drop();
  }
});
