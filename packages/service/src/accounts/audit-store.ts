import type { ErrorCode } from '@agent-network/contracts/errors';
import type { Sql } from '../store/sql.ts';

export interface AuditRow {
  readonly id: string;
  readonly accountId: string;
  readonly at: Date;
  readonly action: string;
  readonly actorKind: 'key' | 'session';
  readonly actorId: string;
  readonly actorName: string;
  readonly subject: Readonly<Record<string, string>>;
  readonly address: string;
  readonly userAgent: string | null;
  readonly outcome: 'done' | 'refused' | 'unknown';
  readonly code: ErrorCode | null;
  /** True when the answer was that of an earlier call under its Idempotency-Key. */
  readonly replayed: boolean;
}

export async function insertAuditEntry(sql: Sql, row: AuditRow): Promise<void> {
  await sql.query(
    'insert-audit-entry',
    `insert into audit_entry (id, account_id, at, action, actor_kind, actor_id, actor_name, subject, address, user_agent, outcome, code, replayed)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      ...[row.id, row.accountId, row.at, row.action, row.actorKind, row.actorId, row.actorName],
      ...[JSON.stringify(row.subject), row.address, row.userAgent, row.outcome, row.code, row.replayed],
    ],
  );
}

/** Records the end of a change, and its subject as far as known. */
export async function endAuditEntry(
  sql: Sql,
  { id, subject, outcome, code }: Pick<AuditRow, 'id' | 'subject' | 'outcome' | 'code'>,
): Promise<void> {
  await sql.query(
    'end-audit-entry',
    'update audit_entry set subject = subject || $2::jsonb, outcome = $3, code = $4 where id = $1',
    [id, JSON.stringify(subject), outcome, code],
  );
}

/** Entries of the account before one of them (null: the newest), newest first. */
export const listAuditRows = (
  sql: Sql,
  accountId: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<AuditRow[]> =>
  sql.query<AuditRow>(
    'list-audit-entries',
    `select id, account_id as "accountId", at, action, actor_kind as "actorKind", actor_id as "actorId", actor_name as "actorName",
            subject, address, user_agent as "userAgent", outcome, code, replayed
       from audit_entry where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
    [accountId, before, limit],
  );

/** True if the account has done this to the thing of that id, as far as entries are kept. */
export async function hasAuditEntry(
  sql: Sql,
  { accountId, action, subjectId }: Pick<AuditRow, 'accountId' | 'action'> & { readonly subjectId: string },
): Promise<boolean> {
  const rows = await sql.query(
    'has-audit-entry',
    `select from audit_entry where account_id = $1 and action = $2 and outcome <> 'refused'
        and exists (select from jsonb_each_text(subject) as s where s.value = $3) limit 1`,
    [accountId, action, subjectId],
  );
  return rows.length > 0;
}

/** Removes up to `most` entries from before a time. Returns their number. */
export async function dropAuditEntries(sql: Sql, before: Date, most: number): Promise<number> {
  const gone = await sql.query(
    'drop-audit-entries',
    'delete from audit_entry where id in (select id from audit_entry where at < $1 order by at limit $2) returning 1',
    [before, most],
  );
  return gone.length;
}
