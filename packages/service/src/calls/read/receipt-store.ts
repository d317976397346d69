import type { SignedReceipt } from '@agent-network/contracts/payments/receipts';
import type { Sql } from '../../store/sql.ts';

export async function findReceipt(sql: Sql, requestId: string): Promise<SignedReceipt | null> {
  const [row] = await sql.query<{ receipt: SignedReceipt }>(
    'find-receipt',
    'select receipt from invocation_receipt where request_id = $1',
    [requestId],
  );
  return row?.receipt ?? null;
}

/** Stores the first receipt of a request; returns false when there is one. */
export async function insertReceipt(sql: Sql, requestId: string, receipt: SignedReceipt, now: Date): Promise<boolean> {
  const rows = await sql.query(
    'insert-receipt',
    `insert into invocation_receipt (request_id, receipt, issued_at) values ($1, $2, $3) on conflict (request_id) do nothing
     returning 1`,
    [requestId, JSON.stringify(receipt), now],
  );
  return rows.length > 0;
}

/** Stored content hashes. Null means they are computed from the content, if it has not been deleted. */
export interface StoredHashes {
  /** Input, context and result. */
  readonly contents: Buffer | null;
  readonly task: Buffer | null;
}

export async function findStoredHashes(sql: Sql, requestId: string): Promise<StoredHashes> {
  const [row] = await sql.query<StoredHashes>(
    'find-stored-hashes',
    'select content_hashes as contents, task_hash as task from invocation where id = $1',
    [requestId],
  );
  return row ?? { contents: null, task: null };
}
