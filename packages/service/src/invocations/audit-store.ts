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

/** The first request that has not ended; null when all have. */
export async function findFirstOpen(sql: Sql): Promise<string | null> {
  const [row] = await sql.query<{ id: string | null }>(
    'find-first-open',
    `select min(id) as id from invocation where status in ('pending', 'processing')`,
  );
  return row?.id ?? null;
}

export interface AuditPlace {
  readonly requestId: string;
  readonly accountId: string;
}

export async function readAuditPlace(sql: Sql): Promise<AuditPlace> {
  const [row] = await sql.query<AuditPlace>(
    'read-audit-place',
    'select request_id as "requestId", account_id as "accountId" from money_audit',
  );
  return row as AuditPlace;
}

export async function writeAuditPlace(sql: Sql, { requestId, accountId }: AuditPlace): Promise<void> {
  await sql.query('write-audit-place', 'update money_audit set request_id = $1, account_id = $2', [
    requestId,
    accountId,
  ]);
}
