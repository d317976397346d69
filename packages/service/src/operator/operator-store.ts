import type { OpenWork } from '../store/queue/drain.ts';
import type { Sql } from '../store/sql.ts';

/** Counts stop here, so that a status query adds no load to a node in trouble. */
const MAX_COUNTED = 10_000;

/** Start times of queued and running work, by kind. Each is a range of an index that its workers use. */
const waiting: Readonly<Record<string, string>> = {
  invocations_waiting: `select created_at as at from invocation where status = 'pending' and worker is null and payment_method <> 'x402'`,
  invocations_open: `select created_at as at from invocation where status in ('pending', 'processing')`,
  events_to_tell: 'select created_at as at from event where needs_fan_out',
  deliveries_new: `select next_attempt_at as at from webhook_delivery where state = 'pending' and tries = 0`,
  deliveries_retrying: `select created_at as at from webhook_delivery where state = 'pending' and tries > 0`,
  agent_checks_due: 'select next_check_at as at from agent where next_check_at < $1::timestamptz',
  registry_writes: `select created_at as at from registry_write where state in ('due', 'sent')`,
  outcomes_to_count: 'select null::timestamptz as at from outcome_due',
  figures_to_fold: 'select null::timestamptz as at from call_change',
};

export interface QueueRow {
  readonly kind: string;
  readonly depth: number;
  readonly oldestAt: Date | null;
}

export const readQueues = (sql: Sql, now: Date): Promise<QueueRow[]> =>
  sql.query<QueueRow>(
    'read-queues',
    Object.entries(waiting)
      .map(
        ([kind, rows]) =>
          `(select '${kind}' as kind, count(*)::int as depth, min(at) as "oldestAt" from (${rows} limit ${MAX_COUNTED}) ${kind}
             where $1::timestamptz is not null)`,
      )
      .join(' union all '),
    [now],
  );

export interface ProcessRow {
  readonly processId: string;
  readonly label: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  /** Median, 99th percentile, maximum. */
  readonly delayMs: [number, number, number] | null;
  /** Host name and port. Null, as the fields below, for a process with code older than migration 106. */
  readonly place: string | null;
  readonly version: string | null;
  /** Newest migration that its code has. */
  readonly schemaVersion: number | null;
  readonly drainAskedAt: Date | null;
  /** Time since which it refuses new calls. */
  readonly drainingSince: Date | null;
  readonly openWork: OpenWork | null;
  /** Without a heartbeat for 10 seconds: its work is about to be taken over. */
  readonly isSilent: boolean;
}

export const listProcesses = (sql: Sql): Promise<ProcessRow[]> =>
  sql.query<ProcessRow>(
    'list-processes',
    `select id as "processId", label, started_at as "startedAt", seen_at as "seenAt", event_loop_delay_ms as "delayMs",
            place, version, schema_version as "schemaVersion", drain_asked_at as "drainAskedAt", draining_since as "drainingSince",
            open_work as "openWork", seen_at < clock_timestamp() - interval '10 seconds' as "isSilent"
       from process order by started_at, id`,
  );

/** Records the operator's request to drain processes; an earlier request stays. */
export async function askToDrain(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query(
    'ask-to-drain',
    'update process set drain_asked_at = coalesce(drain_asked_at, clock_timestamp()) where id = any($1::uuid[])',
    [ids],
  );
}

export async function takeBackDrain(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query('take-back-drain', 'update process set drain_asked_at = null where id = any($1::uuid[])', [ids]);
}

export interface SettlementRow {
  readonly inFlight: number;
  readonly unknown: number;
  readonly lost: number;
  readonly held: number;
  readonly oldestAt: Date | null;
}

/** Open payments, except bills, which agents submit; `unknown`: those older than a time. */
export async function readSettlements(sql: Sql, before: Date): Promise<SettlementRow> {
  const [row] = await sql.query<SettlementRow>(
    'read-settlements',
    `select count(*)::int as "inFlight", count(*) filter (where created_at <= $1)::int as unknown, min(created_at) as "oldestAt",
            (select count(*)::int from chain_payment where lost_at is not null and state = 'settled') as lost,
            (select count(*)::int from held_payout) as held
       from (select created_at from chain_payment where state in ('claimed', 'broadcasting') and purpose <> 'bill' and not exists (select from held_payout h where h.payment_id = chain_payment.id)
              order by created_at limit ${MAX_COUNTED}) open`,
    [before],
  );
  return row ?? { inFlight: 0, unknown: 0, lost: 0, held: 0, oldestAt: null };
}

/** Transactions of each signer that are in no block yet. */
export async function countOpenTransactions(sql: Sql, chainId: number): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.query<{ signer: string; count: number }>(
    'count-open-transactions',
    `select signer, count(*)::int as count from chain_transaction where chain_id = $1 and state = 'sent' group by signer`,
    [chainId],
  );
  return new Map(rows.map(({ signer, count }) => [signer, count]));
}

export interface DatabaseRow {
  readonly sizeBytes: number;
  readonly connections: number;
  readonly maxConnections: number;
}

export async function readDatabase(sql: Sql): Promise<DatabaseRow> {
  const [row] = await sql.query<DatabaseRow>(
    'read-database',
    `select pg_database_size(current_database())::float8 as "sizeBytes",
            (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
            current_setting('max_connections')::int as "maxConnections"`,
  );
  return row ?? { sizeBytes: 0, connections: 0, maxConnections: 0 };
}

/** True if alerts reach somebody: through a webhook of an operator's account, or through a key that reads the metrics and was used. */
export async function hasAlerts(sql: Sql, operatorAccountIds: readonly string[]): Promise<boolean> {
  const [row] = await sql.query<{ hasAlerts: boolean }>(
    'has-alerts',
    `select exists (select from webhook where account_id = any($1) and kind = 'endpoint' and status = 'enabled'
                      and (event_types is null or 'reserves.drift' = any(event_types)))
         or exists (select from api_key where account_id = any($1) and scopes @> array['metrics:read'] and revoked_at is null
                      and last_used_at > now() - interval '1 day') as "hasAlerts"`,
    [operatorAccountIds],
  );
  return row?.hasAlerts ?? false;
}
