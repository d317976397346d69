import type { Payment } from '@agent-network/contracts/payments';
import type { Sql } from '../db/sql.ts';

export interface PaymentRow extends Omit<Payment, 'amount' | 'fee' | 'createdAt'> {
  /** What is left of an earning after the fee. */
  amountMicro: bigint;
  feeMicro: bigint | null;
  createdAt: Date;
}

/** Whose money: these treasuries', and the wallets that paid with the account's keys. */
export interface Whose {
  readonly treasuryIds: readonly string[];
  readonly accountId: string | null;
}

const parts = {
  charges: `from transfer where kind in ('charge', 'bill') and debit_sequence is not null and debit = any($1)`,
  earnings: `from transfer where kind = 'charge' and credit_sequence is not null and credit = any($1)`,
  deposits: `from chain_payment where purpose = 'deposit' and ledger_account_id = any($1)`,
  withdrawals: `from chain_payment where purpose = 'withdrawal' and ledger_account_id = any($1)`,
  wallets: `from chain_payment where purpose in ('invocation', 'refund', 'return', 'second_return') and account_id = $2`,
  returns: `from chain_payment where purpose in ('home_refund', 'home_return') and ledger_account_id = any($1)`,
} as const;

/** A bill is confirmed once the agent has collected it, or earned it all the same; and failed when it came back. */
const chargeStatus = `case when kind = 'charge' then 'confirmed' else
  (select case when p.state = 'settled' then 'confirmed' when p.state <> 'failed' then 'pending'
               when exists (select from transfer t where t.id = 'bill_return:' || p.subject_id) then 'failed' else 'confirmed' end
     from chain_payment p where p.subject_id = transfer.subject_id and p.purpose = 'bill') end`;

const chainStatus = `case when state = 'settled' then 'confirmed' when state in ('failed', 'reversed') then 'failed' else 'pending' end`;

export const listPaymentRows = (
  sql: Sql,
  whose: Whose,
  page: { limit: number; offset: number },
): Promise<PaymentRow[]> =>
  sql.query<PaymentRow>(
    'list-payments',
    `select movement."paymentId", type, "amountMicro" - coalesce(fee.amount_micro, 0) as "amountMicro",
            fee.amount_micro as "feeMicro", status, "requestId", "transactionHash", "createdAt"
       from (select * from (
       select id as "paymentId", 'charge' as type, amount_micro as "amountMicro", ${chargeStatus} as status,
              subject_id as "requestId", null as "transactionHash", created_at as "createdAt" ${parts.charges}
       union all
       select id || ':earning', 'earning', amount_micro, 'confirmed', subject_id, null, created_at ${parts.earnings}
       union all
       select id, 'deposit', value_micro, ${chainStatus}, null, transaction_hash, created_at ${parts.deposits}
       union all
       select id, 'withdrawal', value_micro, ${chainStatus}, null, transaction_hash, created_at ${parts.withdrawals}
       union all
       select id, case purpose when 'invocation' then 'x402' else 'refund' end, value_micro, ${chainStatus}, subject_id,
              transaction_hash, created_at ${parts.wallets}
       union all
       select id, 'refund', value_micro, ${chainStatus}, subject_id, transaction_hash, created_at ${parts.returns}
     ) each order by "createdAt" desc, "paymentId" limit $3 offset $4) movement
       left join transfer fee on movement.type = 'earning' and fee.id = 'fee:' || movement."requestId"
      order by "createdAt" desc, "paymentId"`,
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
