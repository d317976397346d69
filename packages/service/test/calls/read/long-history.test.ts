import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listPayingRequests } from '../../../src/calls/finish/request-payout-store.ts';
import { HAS_ORPHANS } from '../../../src/calls/invocation-store.ts';
import { findEnded, type HistoryQuery, readHistory, sumHistory } from '../../../src/calls/read/history-store.ts';
import { transactionsInBlocks } from '../../../src/chain/blocks/block-store.ts';
import { listNewest } from '../../../src/chain/transaction-store.ts';
import {
  countDeliveries,
  type DeliveryFilter,
  listDeliveryRows,
} from '../../../src/events/deliveries/delivery-store.ts';
import { removeEvents } from '../../../src/events/outbox/retention-store.ts';
import { listFailedUnexpired, paymentsInBlocks } from '../../../src/payments/chain-outbox/chain-payment-list-store.ts';
import { countPayments, listPaymentRows } from '../../../src/payments/ledger/payment-history-store.ts';
import { mayComeToPayout, readLastDays } from '../../../src/payments/payouts/found-payout-store.ts';
import { listOverclaimed } from '../../../src/payments/schemes/batch-settlement/claims/booking-store.ts';
import { dropPurchaseKeys } from '../../../src/payments/schemes/exact/purchase-key-store.ts';
import { readBooks } from '../../../src/payments/statements/reserves-store.ts';
import type { Sql, Tx } from '../../../src/store/sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const CALLS = 10_000;
const DELIVERIES = 20_500;
const INT8 = 20;
/**
 * Of the calls of an account, one in a hundred failed, one in a thousand went to the second agent, named a context and came from an agent.
 * Another account has open requests, payments that failed, and bills. Of the deliveries, two old ones are pending.
 */
const seed = `
  insert into invocation (id, account_id, caller_agent_id, agent_id, task, input, metadata, priority, price_micro, estimated_time, deadline,
    payment_method, status, attempt, cost_micro, created_at, started_at, completed_at)
  select 'req_' || lpad(n::text, 26, '0'), 'acc_a', case when n % 1000 = 0 then 'agt_c' end, case when n % 1000 = 0 then 'agt_rare' else 'agt_b' end,
         'task', '{}', case when n % 1000 = 0 then '{"a2a":{"contextId":"ctx_a"}}' else '{}' end::json, 'normal', 10000, '1s', at, 'treasury',
         case when n % 100 = 0 then 'failed' else 'completed' end, 1, case when n % 100 = 0 then 0 else 10000 end, at, at,
         case when n % 1000 = 0 then at + interval '1 day' else at end
    from generate_series(1, ${CALLS}) as n, lateral (select timestamptz '2026-01-01' + n * interval '10 minutes' as at) t;
  insert into agent_use (account_id, day, agent_id, calls, completed, failed, spent_micro)
  select account_id, date_trunc('day', created_at, 'UTC'), agent_id, count(*), count(*) filter (where status = 'completed'),
         count(*) filter (where status = 'failed'), sum(cost_micro)
    from invocation group by 1, 2, 3;
  insert into agent (id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers, endpoint, metadata,
    status, reputation, token_hash, token_sealed, last_seen_at, created_at, updated_at)
  select id, 'acc_a', '', 'Agent', '', '{}', 0, 0, '{}', '', '{}', 'online', 0, sha256(id::bytea), '', now(), now(), now()
    from unnest('{agt_b,agt_rare,agt_c}'::text[]) as id;
  insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at, debit_sequence, debit_balance_micro, credit_sequence, credit_balance_micro)
  select 'charge:' || id, 'trs_a', 'trs_b', 10000, 'charge', id, created_at, row_number() over (order by id), 1, row_number() over (order by id), 1
    from invocation where status = 'completed';
  insert into chain_payment (id, chain_id, token, from_address, nonce, direction, purpose, subject_id, account_id, ledger_account_id, to_address,
    value_micro, valid_after, valid_before, signature, state, created_at, block_number, block_hash)
  select 'pay_' || n, 1, '', '', n::text, case when n % 1000 = 0 then 'out' else 'in' end, case when n % 1000 = 0 then 'refund' else 'invocation' end,
         'req_' || n, 'acc_a', 'payer:a', '', 1, 0, 0, '', 'settled', timestamptz '2026-01-01' + n * interval '10 minutes', n, 'b' || n
    from generate_series(1, ${CALLS}) as n;
  insert into chain_payment (id, chain_id, token, from_address, nonce, direction, purpose, subject_id, account_id, ledger_account_id, to_address,
    value_micro, valid_after, valid_before, signature, state, created_at)
  select 'other_' || n, 1, '', 'b', n::text, case when n % 50 = 1 then 'out' else 'in' end, case when n % 50 = 1 then 'bill' else 'invocation' end,
         'req_b' || n, 'acc_b', 'payer:b', '', 1, 0, extract(epoch from at)::bigint + 3600, '', case when n % 50 = 1 then 'settled' else 'failed' end, at
    from generate_series(1, ${CALLS}, 5) as n, lateral (select timestamptz '2026-01-01' + n * interval '10 minutes' as at) t;
  insert into invocation (id, account_id, agent_id, task, input, metadata, priority, price_micro, estimated_time, deadline, payment_method, status,
    attempt, worker, created_at, started_at)
  select 'req_open' || n, 'acc_b', 'agt_b', 'task', '{}', '{}', 'normal', 10000, '1s', now(), 'treasury', 'processing', 1, gen_random_uuid(),
         now(), now()
    from generate_series(1, 200) as n;
  insert into event (sequence, id, account_id, type, subject_id, data, needs_fan_out, created_at)
  select n, 'evt_' || n, 'acc_a', 'invocation.completed', 'req_' || n, '{}', false, timestamptz '2026-01-01' + n * interval '10 minutes'
    from generate_series(1, ${CALLS}) as n;
  insert into purchase_key (account_id, key, payment_id, created_at) select 'acc_a', 'key_' || n, 'pay_' || n, now()
    from generate_series(1, ${CALLS}) as n;
  insert into channel (id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt, balance_micro,
    claimed_micro, charged_micro, signed_micro, created_at, changed_at)
  select 'cha_' || n, 1, '', '', '', '', '', 900, '', 5, 5, 5, 5, now(), now() from generate_series(1, 2000) as n;
  insert into webhook (id, account_id, kind, url, description, status, secret_sealed, created_at) values ('whk_a', 'acc_a', 'endpoint', '', '', 'enabled', '', now());
  insert into webhook_delivery (id, webhook_id, event_id, sequence, type, state, attempts, tries, next_attempt_at, created_at)
  select 'dlv_' || n, 'whk_a', 'evt_' || n, n, case when n in (100, 20000) then 'agent.online' else 'invocation.completed' end,
         case when n in (10, 11) then 'pending' else 'delivered' end, 1, case n when 10 then 0 else 1 end, case when n in (10, 11) then now() end,
         timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${DELIVERIES}) as n;
  insert into chain_transaction (hash, chain_id, signer, nonce, raw, state, created_at, mined_block, mined_at_s, block_hash, block_index)
  select 'h' || n, 1, 'signer', n, '', 'mined', timestamptz '2026-01-01' + n * interval '10 minutes', n, n, 'b' || n, 0
    from generate_series(1, ${CALLS}) as n`;

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, (text) => BigInt(text));
  client = new pg.Client({ connectionString: database.url, types });
  await client.connect();
  // Rows of the tables that are read, without those that they belong to.
  await client.query(`set session_replication_role = replica; ${seed}; analyze`);
});

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const none = { callerAgentId: null, agentId: null, status: null, bulkId: null, contextId: null, changedAfter: null };
const history: HistoryQuery = { accountId: 'acc_a', ...none, search: null, from: null, before: null };
/** In the middle. */
const after = { createdAt: new Date(Date.parse('2026-01-01T00:00:00Z') + (CALLS / 2) * 600_000), id: '' };
const LAST_S = BigInt(Date.parse('2026-01-01T00:00:00Z') / 1000 + CALLS * 600);
const gone = [8000, 8001].map((number) => ({ number: BigInt(number), hash: `b${number}` }));
const first = { after: null, limit: 21, offset: 0 };
const payments = { treasuryIds: ['trs_a'], accountId: 'acc_a', type: null, from: null, before: null };
const ofAccount = { accountId: 'acc_a', callerAgentId: null, since: new Date(0), limit: 21 };

const anyDelivery = { status: null, deliveryId: null, eventId: null, type: null };
const pending = { ...anyDelivery, status: 'pending' };

const asset = { chainId: 1, token: '' };
const reads: Record<string, (sql: Sql) => Promise<unknown>> = {
  'the first page': (sql) => readHistory(sql, history, first),
  'a page in the middle': (sql) => readHistory(sql, history, { ...first, after }),
  'failed requests': (sql) => readHistory(sql, { ...history, status: 'failed' }, first),
  'how many failed': (sql) => sumHistory(sql, { ...history, status: 'failed' }),
  'how many completed, and what they cost': (sql) => sumHistory(sql, { ...history, status: 'completed' }),
  'requests to an agent that is rarely called': (sql) => readHistory(sql, { ...history, agentId: 'agt_rare' }, first),
  'requests of an agent': (sql) => readHistory(sql, { ...history, callerAgentId: 'agt_c' }, first),
  'how many an agent made': (sql) => sumHistory(sql, { ...history, callerAgentId: 'agt_c' }),
  'requests of a context': (sql) => readHistory(sql, { ...history, contextId: 'ctx_a' }, first),
  'how many a context has': (sql) => sumHistory(sql, { ...history, contextId: 'ctx_a' }),
  'what changed since a time': (sql) =>
    readHistory(sql, { ...history, changedAfter: new Date('2026-03-11T10:00:00Z') }, first),
  'how many changed since a time long ago': (sql) => sumHistory(sql, { ...history, changedAfter: new Date(0) }),
  'the first page of an export': (sql) => findEnded(sql, { ...ofAccount, after: null }),
  'a page in the middle of an export': (sql) => findEnded(sql, { ...ofAccount, after }),
  'the last payments': (sql) => listPaymentRows(sql, payments, first),
  'payments in the middle': (sql) => listPaymentRows(sql, payments, { ...first, after }),
  'the last charges': (sql) => listPaymentRows(sql, { ...payments, type: 'charge' }, first),
  'the transactions that a chain may lack': (sql) => listNewest(sql, 1, 21),
  'a removal of old events where none is old enough': (sql) =>
    removeEvents(sql as Tx, new Date(0), { after: 0n, most: 21 }),
  'requests that may come to a payout': async (sql) => listPayingRequests(sql, await readLastDays(sql)),
  'whether a request may come to a payout': (sql) => mayComeToPayout(sql as Tx, 'req_b1'),
  'failed payments that may be submitted still': (sql) =>
    listFailedUnexpired(sql, asset, LAST_S, { createdAt: new Date(0), id: '' }, 200),
  'what reserves and books may differ by': (sql) =>
    readBooks(
      sql as Tx,
      { ...asset, wallet: '', ledgerAsset: null },
      { block: BigInt(CALLS), nowS: Number(LAST_S), minMicro: 10_000n },
    ),
  'payments in blocks that are gone': (sql) => paymentsInBlocks(sql, asset, gone),
  'transactions in blocks that are gone': (sql) => transactionsInBlocks(sql, 1, gone),
  'deliveries that are still to come': async (sql) => {
    await listDeliveryRows(sql, 'whk_a', pending, { limit: 20, offset: 0 });
    await countDeliveries(sql, 'whk_a', pending);
  },
  'the latest deliveries': (sql) => listDeliveryRows(sql, 'whk_a', anyDelivery, { limit: 20, offset: 0 }),
  'keys of payments that lost a race': (sql) =>
    dropPurchaseKeys(sql as Tx, [{ accountId: 'acc_a', key: 'key_1', paymentId: 'pay_1' }]),
  'channels of which too much was claimed': (sql) => listOverclaimed(sql, asset),
  'the last refunds': (sql) => listPaymentRows(sql, { ...payments, type: 'refund' }, first),
};

it.each(Object.entries(reads))('of ten thousand requests, %s cost the rows that are shown', async (_, read) => {
  expect(await rowsRead(read)).toBeLessThan(700);
});

it('the first open request whose process is gone tells that there are some', async () => {
  expect(await rowsRead((sql) => sql.query('probe', `select ${HAS_ORPHANS}`))).toBeLessThan(10);
});

it('the number of payments is counted up to ten thousand, where offsets end', async () => {
  expect(await countPayments(plain, { ...payments, type: 'charge' })).toBe(CALLS * 0.99);
  expect(await countPayments(plain, payments)).toBe(10_000);
});

it('what changed since a time is counted exactly, also what was made before and ended after it', async () => {
  for (const changedAfter of [new Date(0), new Date('2026-02-05T12:00:00Z'), new Date('2026-03-11T23:59:59.999Z')]) {
    const { rows } = await client.query(
      `select count(*) as total, coalesce(sum(cost_micro), 0)::bigint as cost from invocation
        where account_id = 'acc_a' and coalesce(completed_at, started_at, created_at) >= $1`,
      [changedAfter],
    );
    const { total, costMicro } = await sumHistory(plain, { ...history, changedAfter });
    expect({ total: BigInt(total), cost: costMicro }).toEqual(rows[0]);
  }
});

it('deliveries of a type are found among the latest twenty thousand, those to come however old they are', async () => {
  const found = async (filter: DeliveryFilter) => {
    const rows = await listDeliveryRows(plain, 'whk_a', filter, { limit: 20, offset: 0 });
    expect(await countDeliveries(plain, 'whk_a', filter)).toBe(rows.length);
    return rows.map(({ deliveryId }) => deliveryId);
  };
  expect(await found({ ...anyDelivery, type: 'agent.online' })).toEqual(['dlv_20000']);
  expect(await found({ ...pending, type: 'invocation.completed' })).toEqual(['dlv_11', 'dlv_10']);
});

const plain = {
  query: async (_: string, text: string, parameters: unknown[] = []) => (await client.query(text, parameters)).rows,
} as unknown as Sql;

/** Rows that the server reads, shown or not, for the statements of a read; prepared ones in the plan that is made for any parameters. */
async function rowsRead(read: (sql: Sql) => Promise<unknown>): Promise<number> {
  let count = 0;
  const query = async (name: string, text: string, parameters: unknown[] = []) => {
    await client.query(
      `deallocate all; set plan_cache_mode = ${name === '' ? 'force_custom_plan' : 'force_generic_plan'}`,
    );
    await client.query(`prepare probe as ${text}`);
    const run = `execute probe${parameters.length === 0 ? '' : `(${parameters.map(literalOf).join(', ')})`}`;
    const { rows } = await client.query(`explain (analyze, costs off, timing off, summary off, format json) ${run}`);
    count += readBy(rows[0]['QUERY PLAN'][0].Plan);
    return (await client.query(run)).rows;
  };
  await read({ query } as unknown as Sql);
  return count;
}

function literalOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.join(',')}}`);
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
}

function readBy(plan: Record<string, unknown>): number {
  const numberOf = (key: string) => Number(plan[key] ?? 0);
  const own = numberOf('Actual Rows') + numberOf('Rows Removed by Filter') + numberOf('Rows Removed by Index Recheck');
  const inner = ((plan.Plans ?? []) as Record<string, unknown>[]).reduce((sum, each) => sum + readBy(each), 0);
  return inner + ('Relation Name' in plan || 'Index Name' in plan ? own * numberOf('Actual Loops') : 0);
}
