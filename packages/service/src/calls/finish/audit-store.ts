import type { Sql } from '../../store/sql.ts';

export interface StaleHold {
  readonly id: string;
  readonly ledgerAccountId: string;
  /** null: no such request exists. */
  readonly status: string | null;
}

/** Expired holds of requests that have ended or do not exist; without holds of withdrawals. */
export const listStaleHolds = (sql: Sql, now: Date, limit: number): Promise<StaleHold[]> =>
  sql.query<StaleHold>(
    'list-stale-holds',
    `select h.id, h.ledger_account_id as "ledgerAccountId", v.status from hold h left join invocation v on v.id = h.id
      where h.ended_at is null and h.expires_at <= $1 and h.id not like 'wdr\\_%' and (v.id is null or v.completed_at is not null)
      order by h.expires_at limit $2`,
    [now, limit],
  );

/** Queues requests for the audit when they end, and again when their money changes: part of the statement that does so. */
export const RECORD_UNAUDITED = 'insert into unaudited_request as u (request_id, since)';
export const OR_AGAIN = 'on conflict (request_id) do update set since = greatest(u.since, excluded.since)';

/** Queues requests that were stored as ended for the audit. */
export async function recordUnaudited(
  sql: Sql,
  ended: readonly { readonly id: string; readonly completedAt: Date | null }[],
): Promise<void> {
  await sql.query(
    'record-unaudited',
    `${RECORD_UNAUDITED} select * from unnest($1::text[], $2::timestamptz[]) ${OR_AGAIN}`,
    [ended.map(({ id }) => id), ended.map(({ completedAt }) => completedAt)],
  );
}

/** Ended requests, not audited yet, with no change of money since a time; longest waiting first. */
export async function listUnaudited(sql: Sql, before: Date, limit: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-unaudited',
    'select request_id as id from unaudited_request where since <= $1 order by since, request_id limit $2',
    [before, limit],
  );
  return rows.map(({ id }) => id);
}

/** Removes audited requests from the queue, except those with a later change of money. */
export async function dropAudited(sql: Sql, ids: readonly string[], before: Date): Promise<void> {
  await sql.query('drop-audited', 'delete from unaudited_request where request_id = any($1) and since <= $2', [
    ids,
    before,
  ]);
}

/** The ledger account that was audited last. */
export async function readAuditPlace(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ accountId: string }>(
    'read-audit-place',
    'select account_id as "accountId" from money_audit',
  );
  return row?.accountId ?? '';
}

export async function writeAuditPlace(sql: Sql, accountId: string): Promise<void> {
  await sql.query('write-audit-place', 'update money_audit set account_id = $1', [accountId]);
}
