import type { Sql } from '../../store/sql.ts';

/** Stores the intent to give a feedback, unless it exists. */
export async function insertFeedbackWrite(
  sql: Sql,
  write: { chainId: number; requestId: string; target: string; data: string },
  now: Date,
): Promise<void> {
  await sql.query(
    'insert-feedback-write',
    `insert into registry_write (id, chain_id, kind, subject_id, target, data, state, created_at)
     values ($1, $2, 'feedback', $3, $4, $5, 'due', $6) on conflict do nothing`,
    [`feedback_${write.requestId}`, write.chainId, write.requestId, write.target, write.data, now],
  );
}
