import type { Sql } from '../db/sql.ts';
import type { Invocation } from './invocation.ts';

/** Notes what a request costs from now on, by compare-and-set on state and attempt: once, and only while it is worked on by us. */
export async function markBilled(
  sql: Sql,
  { id, attempt }: Pick<Invocation, 'id' | 'attempt'>,
  billedMicro: bigint,
): Promise<boolean> {
  const rows = await sql.query(
    'mark-billed',
    `update invocation set billed_micro = $3
      where id = $1 and attempt = $2 and status = 'processing' and billed_micro is null returning id`,
    [id, attempt, billedMicro],
  );
  return rows.length > 0;
}

/** The state of a request, kept from changing until the transaction ends. */
export async function lockState(sql: Sql, id: string): Promise<Pick<Invocation, 'status' | 'agentId'> | null> {
  const rows = await sql.query<Pick<Invocation, 'status' | 'agentId'>>(
    'lock-invocation-state',
    'select status, agent_id as "agentId" from invocation where id = $1 for update',
    [id],
  );
  return rows[0] ?? null;
}

/** A bill that was not collected cost nothing after all. */
export async function markUnbilled(sql: Sql, id: string): Promise<void> {
  await sql.query('mark-unbilled', 'update invocation set cost_micro = 0, refund_micro = price_micro where id = $1', [
    id,
  ]);
}
