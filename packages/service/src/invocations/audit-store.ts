import type { Sql } from '../db/sql.ts';

export interface StaleHold {
  readonly id: string;
  readonly ledgerAccountId: string;
  /** null: there is no such request. */
  readonly status: string | null;
}

/** Holds that outlived their time and whose request has ended, or never was; those of withdrawals are no request's. */
export const listStaleHolds = (sql: Sql, now: Date, limit: number): Promise<StaleHold[]> =>
  sql.query<StaleHold>(
    'list-stale-holds',
    `select h.id, h.ledger_account_id as "ledgerAccountId", v.status from hold h left join invocation v on v.id = h.id
      where h.ended_at is null and h.expires_at <= $1 and h.id not like 'wdr\\_%' and (v.id is null or v.completed_at is not null)
      order by h.expires_at limit $2`,
    [now, limit],
  );

/** Has the audit look at requests once they are at rest, or again when their money changed: in the statement that makes it so. */
export const NOTE_UNAUDITED = 'insert into unaudited_request as u (request_id, since)';
export const OR_AGAIN = 'on conflict (request_id) do update set since = greatest(u.since, excluded.since)';

/** The same for requests that had ended when they were stored. */
export async function noteUnaudited(
  sql: Sql,
  ended: readonly { readonly id: string; readonly completedAt: Date | null }[],
): Promise<void> {
  await sql.query(
    'note-unaudited',
    `${NOTE_UNAUDITED} select * from unnest($1::text[], $2::timestamptz[]) ${OR_AGAIN}`,
    [ended.map(({ id }) => id), ended.map(({ completedAt }) => completedAt)],
  );
}

/** Requests that have ended, that nobody has audited, and whose money has not changed since a time: those that wait longest first. */
export async function listUnaudited(sql: Sql, before: Date, limit: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-unaudited',
    'select request_id as id from unaudited_request where since <= $1 order by since, request_id limit $2',
    [before, limit],
  );
  return rows.map(({ id }) => id);
}

/** Takes audited requests off the list, but for those whose money has changed meanwhile. */
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
