import type { Sql } from '../store/sql.ts';
import { OR_AGAIN, RECORD_UNAUDITED } from './finish/audit-store.ts';
import type { Invocation } from './invocation.ts';

/** Records a request's cost by an agent's bill, by compare-and-set on status and attempt: once, and only while this attempt has it. */
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

export interface BilledRequest
  extends Pick<
    Invocation,
    'status' | 'accountId' | 'agentId' | 'payerLedgerId' | 'billedMicro' | 'returnedMicro' | 'budgetId' | 'createdAt'
  > {
  /** The account of the agent. */
  readonly agentAccountId: string;
}

/** A request and its money, with a row lock until the transaction ends. */
export async function lockBilled(sql: Sql, id: string): Promise<BilledRequest | null> {
  const rows = await sql.query<BilledRequest>(
    'lock-billed-request',
    `select v.status, v.account_id as "accountId", v.agent_id as "agentId", g.account_id as "agentAccountId",
            v.payer_ledger_id as "payerLedgerId", v.billed_micro as "billedMicro", v.returned_micro as "returnedMicro",
            v.budget_id as "budgetId", v.created_at as "createdAt"
       from invocation v join agent g on g.id = v.agent_id where v.id = $1 for update of v`,
    [id],
  );
  return rows[0] ?? null;
}

/** Records a returned part of a bill; reduces the cost of a request that has ended. */
export async function markReturned(sql: Sql, id: string, returnedMicro: bigint): Promise<void> {
  await sql.query(
    'mark-returned',
    `with changed as (
       update invocation set returned_micro = returned_micro + $2, cost_micro = cost_micro - $2, refund_micro = refund_micro + $2
        where id = $1 returning id, completed_at
     )
     ${RECORD_UNAUDITED} select id, now() from changed where completed_at is not null ${OR_AGAIN}`,
    [id, returnedMicro],
  );
}

/** Records that a bill was not collected and cost nothing. */
export async function markUnbilled(sql: Sql, id: string): Promise<void> {
  await sql.query(
    'mark-unbilled',
    `with changed as (
       update invocation set cost_micro = 0, refund_micro = price_micro where id = $1 returning id, completed_at
     )
     ${RECORD_UNAUDITED} select id, now() from changed where completed_at is not null ${OR_AGAIN}`,
    [id],
  );
}
