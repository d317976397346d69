import type { Payment } from '@agent-network/contracts/payments';
import type { Sql } from '../db/sql.ts';

export interface PaymentRow extends Omit<Payment, 'amount' | 'createdAt'> {
  amountMicro: bigint;
  createdAt: Date;
}

/** Whose money: these treasuries', and the wallets that paid with the account's keys. */
export interface Whose {
  readonly treasuryIds: readonly string[];
  readonly accountId: string | null;
}

const parts = {
  charges: `from transfer where kind = 'charge' and debit = any($1)`,
  earnings: `from transfer where kind = 'charge' and credit = any($1)`,
  deposits: `from chain_payment where purpose = 'deposit' and ledger_account_id = any($1)`,
  withdrawals: `from chain_payment where purpose = 'withdrawal' and ledger_account_id = any($1)`,
  wallets: `from chain_payment where purpose in ('invocation', 'refund') and account_id = $2`,
} as const;

const chainStatus = `case state when 'settled' then 'confirmed' when 'failed' then 'failed' else 'pending' end`;

export const listPaymentRows = (
  sql: Sql,
  whose: Whose,
  page: { limit: number; offset: number },
): Promise<PaymentRow[]> =>
  sql.query<PaymentRow>(
    'list-payments',
    `select * from (
       select id as "paymentId", 'charge' as type, amount_micro as "amountMicro", 'confirmed' as status,
              subject_id as "requestId", null as "transactionHash", created_at as "createdAt" ${parts.charges}
       union all
       select id || ':earning', 'earning', amount_micro, 'confirmed', subject_id, null, created_at ${parts.earnings}
       union all
       select id, 'deposit', value_micro, ${chainStatus}, null, transaction_hash, created_at ${parts.deposits}
       union all
       select id, 'withdrawal', value_micro, ${chainStatus}, null, transaction_hash, created_at ${parts.withdrawals}
       union all
       select id, case purpose when 'refund' then 'refund' else 'x402' end, value_micro, ${chainStatus}, subject_id,
              transaction_hash, created_at ${parts.wallets}
     ) movement order by "createdAt" desc, "paymentId" limit $3 offset $4`,
    [whose.treasuryIds, whose.accountId, page.limit, page.offset],
  );

export async function countPayments(sql: Sql, whose: Whose): Promise<number> {
  const counts = Object.values(parts).map((part) => `(select count(*) ${part})`);
  const [row] = await sql.query<{ total: bigint }>('count-payments', `select ${counts.join(' + ')} as total`, [
    whose.treasuryIds,
    whose.accountId,
  ]);
  return Number(row?.total ?? 0);
}

/** Deposits that were shown to us and that the chain has not confirmed yet. */
export async function sumPendingDeposits(sql: Sql, treasuryIds: readonly string[]): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-pending-deposits',
    `select coalesce(sum(value_micro), 0)::bigint as sum from chain_payment
      where purpose = 'deposit' and state in ('claimed', 'broadcasting') and ledger_account_id = any($1)`,
    [treasuryIds],
  );
  return row?.sum ?? 0n;
}
