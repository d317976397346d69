import type pg from 'pg';
import { filledTables } from './fill-tables.ts';
import type { Sample } from './sample-calls.ts';

export const ACCOUNTS = 200;
export const AGENTS = 200;

/** Deposit of an account: more than its calls cost. */
const DEPOSIT_MICRO = 1_000_000_000_000n;

const DEPOSITED_MICRO = DEPOSIT_MICRO * BigInt(ACCOUNTS);

/** An account without calls for each so many invocations: a node has more accounts than callers. */
const INVOCATIONS_OF_IDLE = 100;

/** The time of an id, as `newId` writes it. */
const TIME_TEXT = `
  create function bench.time_text(at timestamptz) returns text language sql immutable parallel safe as $$
    select ${Array.from({ length: 10 }, (_, i) => `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${5 * (9 - i)}) & 31)::int + 1, 1)`).join(' || ')}
      from (select (extract(epoch from at) * 1000)::bigint as ms) t $$`;

/** Accounts that pay, and agents that earn, beside the account and the agents of the node; their first ones. */
const statements = [
  'create schema bench',
  TIME_TEXT,
  // The rows of the real calls, as they were left.
  ...[...new Set(filledTables.map(({ table }) => table))].map(
    (table) => `create table bench.${table} as table ${table}`,
  ),
  // Entries are numbered in the order of their times: those of the real calls come first.
  `update transfer set created_at = created_at - interval '95 days'`,
  `create table bench.template (kind text primary key, id text not null, at timestamptz not null, amount_micro bigint not null)`,
  `create table bench.payer (nth int primary key, account_id text, treasury_id text, wallet text, payer_ledger_id text, webhook_id text)`,
  `create table bench.agent (nth int primary key, agent_id text, ledger_id text)`,
  `create table bench.progress (done bigint not null, total bigint not null, first_at timestamptz not null, last_at timestamptz not null)`,
  `insert into account (id, address, plan, created_at)
   select 'acc_size' || lpad(n::text, 22, '0'), '0x' || substr(md5('account' || n) || md5('a'), 1, 40), 'pro', now() - interval '100 days'
     from generate_series(1, ${ACCOUNTS - 1}) as n`,
  `insert into bench.payer
   select n, id, 'trs_' || substr(md5(id), 1, 26), '0x' || substr(md5('wallet' || n) || md5('w'), 1, 40), null, 'whk_' || substr(md5(id), 1, 26)
     from (select row_number() over (order by id like 'acc_size%', id) - 1 as n, id from account
            where id like 'acc_size%' or id = (select account_id from invocation limit 1)) each`,
  `update bench.payer set treasury_id = (select id from ledger_account where kind = 'treasury'), wallet = (select wallet from payer_wallet limit 1),
          webhook_id = (select id from webhook limit 1) where nth = 0`,
  `update bench.payer set payer_ledger_id = 'payer:' || wallet`,
  `insert into ledger_account (id, kind, account_id, created_at)
   select treasury_id, 'treasury', account_id, now() - interval '100 days' from bench.payer where nth > 0`,
  `insert into ledger_account (id, kind, address, created_at)
   select payer_ledger_id, 'payer', wallet, now() - interval '100 days' from bench.payer where nth > 0`,
  `insert into payer_wallet (account_id, wallet) select account_id, wallet from bench.payer where nth > 0`,
];

/** Copies a row of a table, once for each row of a source, with some columns changed. */
async function copyRows(
  client: pg.Client,
  table: string,
  { from, where, columns }: { from: string; where: string; columns: Readonly<Record<string, string>> },
): Promise<void> {
  const names = await columnsOf(client, table);
  const values = names.map((name) => columns[name] ?? `t."${name}"`);
  await client.query(
    `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')}) select ${values.join(', ')} from ${from} cross join ${table} t where ${where}`,
  );
}

/** The columns that are stored as given. */
export async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity <> 'a' order by attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Makes the accounts and agents of the calls to come, and notes the real calls that are multiplied. */
export async function fillWorld(client: pg.Client, samples: readonly Sample[], total: number): Promise<void> {
  await client.query('begin');
  for (const statement of statements) await client.query(statement);
  for (const { kind, requestId } of samples)
    await client.query(
      `insert into bench.template select $1, id, created_at, price_micro from invocation where id = $2`,
      [kind, requestId],
    );
  const seeded = `'agt_size' || lpad(n::text, 22, '0')`;
  const echo = `t.id = (select v.agent_id from invocation v join bench.template b on b.id = v.id where b.kind = 'treasury')`;
  await copyRows(client, 'agent', {
    from: `generate_series(1, ${AGENTS - 1}) as n`,
    where: echo,
    columns: {
      ...{ id: seeded, name: `'Agent ' || n`, token_hash: `sha256(('size' || n)::bytea)`, token_id: 'null' },
      // No process listens there: it is neither checked nor called.
      ...{ endpoint: `'http://127.0.0.1:9/' || n`, next_check_at: 'null', types_id: 'null' },
    },
  });
  await client.query(`
    insert into bench.agent
    select row_number() over (order by a.id like 'agt_size%', a.id) - 1, a.id, coalesce(l.id, 'trs_' || substr(a.id, 5))
      from agent a left join ledger_account l on l.agent_id = a.id and l.kind = 'agent'
     where a.id like 'agt_size%' or a.id = (select v.agent_id from invocation v join bench.template b on b.id = v.id where b.kind = 'treasury')`);
  await client.query(`
    insert into ledger_account (id, kind, account_id, agent_id, created_at)
    select b.ledger_id, 'agent', a.account_id, a.id, now() - interval '100 days' from bench.agent b join agent a on a.id = b.agent_id where nth > 0`);
  await client.query(`insert into agent_totals (agent_id) select agent_id from bench.agent on conflict do nothing`);
  await copyRows(client, 'webhook', {
    from: 'bench.payer b',
    where: 'b.nth > 0 and t.id = (select webhook_id from bench.payer where nth = 0)',
    columns: { id: 'b.webhook_id', account_id: 'b.account_id' },
  });
  await deposit(client);
  await addIdleAccounts(client, Math.floor(total / INVOCATIONS_OF_IDLE));
  await client.query(
    `insert into bench.progress values (0, $1, now() - interval '92 days', now() - interval '1 hour')`,
    [total],
  );
  await client.query(`update event_clock set xid_offset = xid_offset + 100000000`);
  await client.query('commit');
}

/** Each account's deposit, as a settled payment leaves it. */
async function deposit(client: pg.Client): Promise<void> {
  const at = `now() - interval '93 days'`;
  const paymentId = `'pay_' || substr(md5('deposit' || b.nth), 1, 26)`;
  const subject = `'trf_' || substr(md5('subject' || b.nth), 1, 26)`;
  const first = `(select id from chain_payment where purpose = 'deposit' order by created_at limit 1)`;
  await copyRows(client, 'chain_payment', {
    from: 'bench.payer b',
    where: `t.id = ${first}`,
    columns: {
      ...{
        id: paymentId,
        from_address: 'b.wallet',
        nonce: `'0x' || md5('d' || b.nth) || md5('e' || b.nth)`,
        subject_id: subject,
      },
      ...{
        account_id: 'b.account_id',
        ledger_account_id: 'b.treasury_id',
        value_micro: `${DEPOSIT_MICRO}`,
        block_hash: 'null',
      },
      ...{ created_at: at, ended_at: at },
    },
  });
  await client.query(`
    insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at, credit_sequence, credit_balance_micro)
    select 'deposit:' || ${paymentId}, 'wallet', treasury_id, ${DEPOSIT_MICRO}, 'deposit', ${subject}, ${at},
           l.entries + 1, l.posted_micro + ${DEPOSIT_MICRO}
      from bench.payer b join ledger_account l on l.id = b.treasury_id`);
  await client.query(`
    update ledger_account l set posted_micro = posted_micro + ${DEPOSIT_MICRO}, entries = entries + 1, last_entry_at = ${at}
      from bench.payer b where l.id = b.treasury_id`);
  await client.query(
    `insert into ledger_total (kind, change_micro) values ('treasury', ${DEPOSITED_MICRO}), ('wallet', -${DEPOSITED_MICRO})`,
  );
}

/** Accounts with a treasury that holds nothing. */
async function addIdleAccounts(client: pg.Client, count: number): Promise<void> {
  const id = `'acc_idle' || lpad(n::text, 22, '0')`;
  await client.query(`
    insert into account (id, address, plan, created_at)
    select ${id}, '0x' || substr(md5('idle' || n) || md5('i'), 1, 40), 'free', now() - interval '100 days' from generate_series(1, ${count}) as n`);
  await client.query(`
    insert into ledger_account (id, kind, account_id, created_at)
    select 'trs_' || substr(md5(${id}), 1, 26), 'treasury', ${id}, now() - interval '100 days' from generate_series(1, ${count}) as n`);
}
