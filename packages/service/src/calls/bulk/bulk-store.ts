import type { BulkStrategy } from '@agent-network/contracts/invocations/bulk';
import type { Sql, Tx } from '../../store/sql.ts';
import type { BulkPart } from './bulk-strategy.ts';

export interface Bulk {
  readonly id: string;
  readonly accountId: string;
  readonly callerAgentId: string | null;
  readonly strategy: BulkStrategy;
  readonly status: 'processing' | 'completed' | 'failed';
  readonly winner: string | null;
  readonly webhookUrl: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

const columns = `id, account_id as "accountId", caller_agent_id as "callerAgentId", strategy, status, winner,
  webhook_url as "webhookUrl", created_at as "createdAt", completed_at as "completedAt"`;

export async function insertBulk(sql: Sql, bulk: Bulk): Promise<void> {
  await sql.query(
    'insert-bulk',
    `insert into bulk (id, account_id, caller_agent_id, strategy, status, winner, webhook_url, created_at, completed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      bulk.id,
      bulk.accountId,
      bulk.callerAgentId,
      bulk.strategy,
      bulk.status,
      bulk.winner,
      bulk.webhookUrl,
      bulk.createdAt,
      bulk.completedAt,
    ],
  );
}

export async function findBulk(sql: Sql, id: string): Promise<Bulk | null> {
  const rows = await sql.query<Bulk>('find-bulk', `select ${columns} from bulk where id = $1`, [id]);
  return rows[0] ?? null;
}

export async function lockBulk(sql: Sql, id: string): Promise<Bulk | null> {
  const rows = await sql.query<Bulk>('lock-bulk', `select ${columns} from bulk where id = $1 for update`, [id]);
  return rows[0] ?? null;
}

export async function endBulk(
  sql: Sql,
  id: string,
  end: { status: 'completed' | 'failed'; winner: string | null },
  now: Date,
): Promise<void> {
  await sql.query(
    'end-bulk',
    `update bulk set status = $2, winner = $3, completed_at = $4 where id = $1 and status = 'processing'`,
    [id, end.status, end.winner, now],
  );
}

/** A part as the end of another one reads it. */
interface StoredBulkPart extends BulkPart {
  readonly attempt: number;
}

/**
 * The requests of a bulk request in the order of its agents, with row locks until the transaction ends, without their contents: each end
 * reads all of them.
 */
export const lockBulkParts = (tx: Tx, bulkId: string): Promise<StoredBulkPart[]> =>
  tx.query<StoredBulkPart>(
    'lock-bulk-parts',
    `select id, status, attempt, completed_at as "completedAt",
            case status when 'completed' then encode(substring(content_hashes from 65), 'hex') end as "resultHash"
       from invocation where bulk_id = $1 order by id for update`,
    [bulkId],
  );
