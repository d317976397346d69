import type { Sql } from '../../store/sql.ts';

export interface ProgressRow {
  readonly hasUsedKey: boolean;
  readonly isFunded: boolean;
  /** Ended calls of the account, and their cost in micro-USDC. */
  readonly calls: bigint;
  readonly spent: bigint;
  readonly hasAgent: boolean;
  readonly isVerified: boolean;
  /** Ended calls to its agents, and their earnings in micro-USDC. */
  readonly received: bigint;
  readonly earned: bigint;
  readonly hasWithdrawn: boolean;
}

const ownAgent = `select from agent where account_id = $1 and home_node is null and status <> 'removed'`;

/** Sums and first occurrences of an account, with changes that are not folded yet. */
export async function readProgressRow(sql: Sql, accountId: string): Promise<ProgressRow> {
  const [row] = await sql.query<ProgressRow>(
    'read-progress',
    `with recent as (
       select * from call_change where account_id = $1 or agent_account_id = $1
     ), figures as (
       select coalesce(sum(calls), 0) as received, coalesce(sum(amount_micro), 0) as earned
         from call_figure where subject_id = $1 and side = 'received' and span = 'day'
     ), changed as (
       select coalesce(sum(calls) filter (where account_id = $1), 0) as calls,
              coalesce(sum(spent_micro) filter (where account_id = $1), 0) as spent,
              coalesce(sum(calls) filter (where agent_account_id = $1), 0) as received,
              coalesce(sum(earned_micro) filter (where agent_account_id = $1), 0) as earned
         from recent
     )
     select exists (select from api_key where account_id = $1 and kind = 'key' and last_used_at is not null) as "hasUsedKey",
            exists (select from ledger_account where account_id = $1 and kind = 'treasury' and entries > 0) as "isFunded",
            (t.calls + c.calls)::bigint as calls, (t.spent_micro + c.spent)::bigint as spent,
            exists (${ownAgent}) as "hasAgent", exists (${ownAgent} and endpoint_proven_at is not null) as "isVerified",
            (f.received + c.received)::bigint as received, (f.earned + c.earned)::bigint as earned,
            exists (select from chain_payment where account_id = $1 and purpose = 'withdrawal' and state = 'settled') as "hasWithdrawn"
       from account_totals t, figures f, changed c where t.account_id = $1`,
    [accountId],
  );
  if (!row) throw new Error('every account has totals');
  return row;
}
