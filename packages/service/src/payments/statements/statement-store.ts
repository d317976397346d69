import type { StatementEntry } from '@agent-network/contracts/payments/statements';
import type { Sql } from '../../db/sql.ts';

/** The last entry of an account before a time, with the balance after it. */
export interface Balance {
  readonly sequence: bigint;
  readonly balanceMicro: bigint;
}

const lastBefore = (side: 'debit' | 'credit') => `(
  select ${side}_sequence as sequence, ${side}_balance_micro as "balanceMicro" from transfer
   where ${side} = $1 and ${side}_sequence is not null and created_at < coalesce($2::timestamptz, 'infinity')
   order by created_at desc, ${side}_sequence desc limit 1)`;

/** Balance of an account before a time, or its current balance. */
export async function findBalance(sql: Sql, accountId: string, before: Date | null): Promise<Balance> {
  const rows = await sql.query<Balance>(
    'find-balance',
    `select * from (${lastBefore('debit')} union all ${lastBefore('credit')}) side order by sequence desc limit 1`,
    [accountId, before],
  );
  return rows[0] ?? { sequence: 0n, balanceMicro: 0n };
}

export interface EntryRow extends Omit<StatementEntry, 'amount' | 'balance' | 'createdAt'> {
  readonly sequence: bigint;
  readonly amountMicro: bigint;
  readonly balanceMicro: bigint;
  readonly createdAt: Date;
}

const entriesOf = (side: 'debit' | 'credit') => `(
  select '${side}' as direction, ${side}_sequence as sequence, ${side}_balance_micro as balance, id, debit, credit, amount_micro,
         kind, subject_id, created_at
    from transfer
   where ${side} = $1 and ${side}_sequence is not null and (created_at, ${side}_sequence) > ($2::timestamptz, $3::bigint)
     and created_at < coalesce($4::timestamptz, 'infinity') and ${side}_sequence <= $5::bigint
   order by created_at, ${side}_sequence limit $6)`;

/**
 * Entries of an account, in order, after a position. Number and time of an account's entries rise together, so the index, which has the
 * time first, serves both.
 */
export const listEntryRows = (
  sql: Sql,
  accountId: string,
  page: { after: { at: Date; sequence: bigint }; before: Date | null; lastSequence: bigint; limit: number },
): Promise<EntryRow[]> =>
  sql.query<EntryRow>(
    'list-entries',
    `select e.id as "entryId", case when e.kind = 'charge' and e.direction = 'credit' then 'earning' else e.kind end as type,
            e.direction, e.amount_micro as "amountMicro", e.balance as "balanceMicro", e.sequence, e.created_at as "createdAt",
            case when e.kind in ('charge', 'fee', 'refund', 'bill', 'bill_return') then e.subject_id end as "requestId", p.id as "paymentId",
            case when e.kind in ('withdrawal', 'return', 'fee_payout') then e.subject_id end as "withdrawalId",
            p.transaction_hash as "transactionHash",
            case when e.kind = 'charge' and e.direction = 'debit' then
                   (select agent_id from ledger_account a where a.id = e.credit)
                 when p.direction = 'in' then p.from_address else p.to_address end as counterparty
       from (select * from (${entriesOf('debit')} union all ${entriesOf('credit')}) side order by sequence limit $6) e
       left join chain_payment p on p.subject_id = e.subject_id
        and p.purpose = case when e.kind in ('deposit', 'reversal') then 'deposit' when e.kind in ('withdrawal', 'return') then 'withdrawal'
                             when e.kind = 'bill_return' and e.debit = 'wallet' then split_part(e.id, ':', 1)
                             when e.kind in ('bill', 'bill_return') then 'bill' end
      order by e.sequence`,
    [accountId, page.after.at, page.after.sequence, page.before, page.lastSequence, page.limit],
  );
