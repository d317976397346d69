import type pg from 'pg';
import { aggregateCallChanges } from '../../packages/service/src/calls/read/call-figure-store.ts';
import { duration, tell } from '../progress.ts';
import { filledTables } from './fill-tables.ts';
import { ACCOUNTS, AGENTS, columnsOf } from './fill-world.ts';
import { dropIndexes, restoreIndexes } from './indexes.ts';

/** Calls of one transaction. */
const BATCH = 50_000;

/** A stable draw of 0 to `most` - 1 for each call. */
const draw = (salt: number, most: number) => `((hashint8(n * 31 + ${salt}) & 2147483647) % ${most})`;

/** Mix of a hundred calls: 50 from a treasury, 20 asynchronous with a webhook, 20 by x402, 7 streams, 3 that fail. */
const kindOf = `case when ${draw(1, 100)} < 50 then 'treasury' when ${draw(1, 100)} < 70 then 'async'
  when ${draw(1, 100)} < 90 then 'x402' when ${draw(1, 100)} < 97 then 'stream' else 'failed' end`;

/** One account makes a fifth of all calls, and one agent receives a fifth: theirs are the lists that are measured. */
const drawn = `
  select n, ${kindOf} as kind, p.first_at + (p.last_at - p.first_at) * (n::float8 / p.total) as at,
         case when n % 5 = 0 then 0 else 1 + ${draw(2, ACCOUNTS - 1)} end as payer,
         case when ${draw(3, 5)} = 0 then 0 else 1 + ${draw(4, AGENTS - 1)} end as agent
    from bench.progress p, generate_series($1::bigint, $2::bigint) as n`;

const makeFilling = `
  insert into filling
  select n, c.kind, c.id, template_at, request_id, c.account_id, c.ledger_id, wallet, webhook_id, c.agent_id, agent_ledger_id, at, time_text, amount_micro,
         l.entries + per_call * sum(charged) over (partition by ledger_id order by n),
         l.posted_micro - case when per_call = 1 then sum(charged * amount_micro) over (partition by ledger_id order by n) else 0 end,
         g.entries + sum(charged) over (partition by agent_ledger_id order by n),
         g.posted_micro + sum(charged * amount_micro) over (partition by agent_ledger_id order by n)
    from (select d.n, d.kind, t.id, t.at as template_at, 'req_' || bench.time_text(d.at) || substr(md5('r' || d.n), 1, 16) as request_id, p.account_id, p.wallet, p.webhook_id,
                 case when d.kind = 'x402' then p.payer_ledger_id else p.treasury_id end as ledger_id,
                 case when d.kind = 'x402' then 2 else 1 end as per_call, (d.kind <> 'failed')::int as charged,
                 a.agent_id, a.ledger_id as agent_ledger_id, d.at, bench.time_text(d.at) as time_text, t.amount_micro
            from (${drawn}) d join bench.template t on t.kind = d.kind
            join bench.payer p on p.nth = d.payer join bench.agent a on a.nth = d.agent) c
    join ledger_account l on l.id = c.ledger_id join ledger_account g on g.id = c.agent_ledger_id`;

/** The node removes older figures of hours at once. */
const HOUR_DAYS = 3;

/** The sums that the node keeps of calls, outcomes and money, brought up to date. */
const sums = [
  `insert into call_change
   select f.account_id, f.agent_id, a.account_id, date_trunc('hour', f.at, 'UTC'), duration_bin(extract(epoch from t.completed_at - t.created_at) * 1000),
          count(*), count(*) filter (where t.status = 'completed'), count(*) filter (where t.status = 'failed'),
          sum(coalesce(t.cost_micro, 0)), sum(case when t.status = 'completed' then f.amount_micro else 0 end)
     from filling f join bench.invocation t on t.id = f.template_id join agent a on a.id = f.agent_id group by 1, 2, 3, 4, 5`,
  `insert into outcome_day as o
   select f.agent_id, f.account_id, case when t.wallet = '' then '' else f.wallet end, (f.at at time zone 'UTC')::date,
          coalesce(sum(f.amount_micro) filter (where t.is_good), 0), coalesce(sum(f.amount_micro) filter (where not t.is_good), 0),
          count(*) filter (where t.is_good), count(*) filter (where not t.is_good)
     from filling f join bench.outcome t on t.request_id = f.template_id group by 1, 2, 3, 4
   on conflict (agent_id, day, account_id, wallet) do update
      set good_micro = o.good_micro + excluded.good_micro, bad_micro = o.bad_micro + excluded.bad_micro,
          good_calls = o.good_calls + excluded.good_calls, bad_calls = o.bad_calls + excluded.bad_calls`,
  `insert into payer_agent as p
   select account_id, agent_id, sum(amount_micro), min(at) from filling where kind <> 'failed' group by 1, 2
   on conflict (account_id, agent_id) do update set paid_micro = p.paid_micro + excluded.paid_micro`,
  `update agent_totals t set completed = t.completed + f.good, failed = t.failed + f.bad, duration_ms = t.duration_ms + f.good * 20
     from (select agent_id, count(*) filter (where kind <> 'failed') as good, count(*) filter (where kind = 'failed') as bad from filling group by 1) f
    where t.agent_id = f.agent_id`,
  `insert into account_storage as s
   select f.account_id, sum(octet_length(t.input::text) + coalesce(octet_length(t.result::text), 0))
     from filling f join bench.invocation t on t.id = f.template_id group by 1
   on conflict (account_id) do update set bytes = s.bytes + excluded.bytes`,
  `update ledger_account l set entries = f.entries, posted_micro = f.balance, last_entry_at = f.at
     from (select distinct on (ledger_id) ledger_id, debit_sequence as entries, debit_balance as balance, at from filling
            where kind <> 'failed' order by ledger_id, n desc) f where l.id = f.ledger_id`,
  `update ledger_account l set entries = f.entries, posted_micro = f.balance, last_entry_at = f.at
     from (select distinct on (agent_ledger_id) agent_ledger_id, credit_sequence as entries, credit_balance as balance, at from filling
            where kind <> 'failed' order by agent_ledger_id, n desc) f where l.id = f.agent_ledger_id`,
  `insert into ledger_total (kind, change_micro)
   select each.kind, sum(each.sign * f.amount_micro) from filling f
     cross join lateral (values ('agent', 1), (case when f.kind = 'x402' then 'wallet' else 'treasury' end, -1)) as each (kind, sign)
    where f.kind <> 'failed' group by 1`,
  `delete from call_figure where span = 'hour' and start < now() - interval '${HOUR_DAYS} days'`,
  'update bench.progress set done = $1',
] as const;

/** Multiplies the real calls until the database holds as many as its world was made for; goes on where an earlier run ended. */
export async function fillCalls(client: pg.Client): Promise<void> {
  await client.query(`
    create temporary table filling (n bigint, kind text, template_id text, template_at timestamptz, request_id text, account_id text, ledger_id text,
      wallet text, webhook_id text, agent_id text, agent_ledger_id text, at timestamptz, time_text text, amount_micro bigint,
      debit_sequence bigint, debit_balance bigint, credit_sequence bigint, credit_balance bigint)`);
  const inserts: string[] = [];
  for (const table of filledTables) inserts.push(await insertOf(client, table));
  const { rows } = await client.query<{ done: string; total: string }>('select done, total from bench.progress');
  const [first, total] = [Number(rows[0]?.done), Number(rows[0]?.total)];
  if (first < total) await dropIndexes(client);
  const startMs = performance.now();
  for (let done = first; done < total; ) {
    const last = Math.min(done + BATCH, total);
    await fillBatch(client, inserts, done + 1, last);
    done = last;
    const leftS = ((performance.now() - startMs) / 1000 / (done - first)) * (total - done);
    tell(
      `${done.toLocaleString('en')} of ${total.toLocaleString('en')} invocations are there; about ${duration(leftS)} left`,
    );
  }
  await restoreIndexes(client);
}

async function fillBatch(client: pg.Client, inserts: readonly string[], first: number, last: number): Promise<void> {
  await client.query('begin');
  await client.query('truncate filling');
  await client.query(makeFilling, [first, last]);
  await client.query('analyze filling');
  for (const insert of inserts) await client.query(insert);
  for (const sum of sums) await client.query(sum, sum.includes('$1') ? [last] : []);
  const query = async (_: string, text: string, parameters: unknown[] = []) =>
    (await client.query(text, parameters)).rows;
  await aggregateCallChanges({ query } as Parameters<typeof aggregateCallChanges>[0], 1_000_000_000);
  await client.query('commit');
}

async function insertOf(client: pg.Client, { table, from, columns, newerThanDays }: (typeof filledTables)[number]) {
  const names = await columnsOf(client, table);
  const recent = newerThanDays === undefined ? '' : ` where f.at > now() - interval '1 hour' * ${newerThanDays * 24}`;
  return `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})
    select ${names.map((name) => columns[name] ?? `t."${name}"`).join(', ')} from filling f join bench.${table} t on ${from}${recent}`;
}
