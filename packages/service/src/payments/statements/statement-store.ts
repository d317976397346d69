import type { StatementEntry } from '@agent-network/contracts/payments/statements';
import type { Sql } from '../../store/sql.ts';
import { plainSql } from '../ledger/asset-account.ts';

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

const entriesOf = (side: 'debit' | 'credit', range: string, order: string) => `(
  select '${side}' as direction, ${side}_sequence as sequence, ${side}_balance_micro as balance, id, debit, credit, amount_micro,
         kind, subject_id, created_at
    from transfer
   where ${side} = $1 and ${side}_sequence is not null and ${range} and ${side}_sequence <= $5::bigint
   order by created_at ${order}, ${side}_sequence ${order} limit $6)`;

/** Entries after the place $2, $3 in the order of reading, up to the other end of the period, $4. */
const rangeOf = {
  asc: (side: string) =>
    `(created_at, ${side}_sequence) > ($2::timestamptz, $3::bigint) and created_at < $4::timestamptz`,
  desc: (side: string) =>
    `(created_at, ${side}_sequence) < ($2::timestamptz, $3::bigint) and created_at >= $4::timestamptz`,
};

const sidesOf = (order: 'asc' | 'desc') =>
  (['debit', 'credit'] as const).map((side) => entriesOf(side, rangeOf[order](side), order)).join(' union all ');

const statementOf = (order: 'asc' | 'desc') =>
  `select e.id as "entryId", case when e.kind = 'charge' and e.direction = 'credit' then 'earning' else e.kind end as type,
          e.direction, e.amount_micro as "amountMicro", e.balance as "balanceMicro", e.sequence, e.created_at as "createdAt",
          case when e.kind in ('charge', 'fee', 'refund', 'bill', 'bill_return') then e.subject_id end as "requestId", p.id as "paymentId",
          case when e.kind in ('withdrawal', 'return', 'fee_payout') then e.subject_id end as "withdrawalId",
          p.transaction_hash as "transactionHash",
          case when a.agent_id is not null then a.agent_id
               when p.direction = 'in' then p.from_address else p.to_address end as counterparty,
          g.name as "counterpartyName"
     from (select * from (${sidesOf(order)}) side order by sequence ${order} limit $6) e
     left join ledger_account a on a.id = case when e.kind = 'charge' and e.direction = 'debit' then e.credit
                                               when e.kind = 'collect' and e.direction = 'credit' then e.debit end
     left join agent g on g.id = a.agent_id
     left join chain_payment p on p.subject_id = e.subject_id
      and p.purpose = case when e.kind in ('deposit', 'reversal') then 'deposit' when e.kind in ('withdrawal', 'return') then 'withdrawal'
                           when e.kind = 'bill_return' and ${plainSql('e.debit')} = 'wallet' then split_part(e.id, ':', 1)
                           when e.kind in ('bill', 'bill_return') then 'bill' end
    order by e.sequence ${order}`;

const statements = {
  asc: { name: 'list-entries', text: statementOf('asc') },
  desc: { name: 'list-entries-back', text: statementOf('desc') },
};

export interface EntryPage {
  readonly order: 'asc' | 'desc';
  /** Null: from the end of the period where reading begins. */
  readonly after: { readonly at: Date; readonly sequence: bigint } | null;
  readonly from: Date | null;
  readonly before: Date | null;
  readonly lastSequence: bigint;
  readonly limit: number;
}

/**
 * Entries of an account, in order, after a position. Number and time of an account's entries rise together, so the index, which has the
 * time first, serves both.
 */
export function listEntryRows(
  sql: Sql,
  accountId: string,
  { order, after, from, before, lastSequence, limit }: EntryPage,
): Promise<EntryRow[]> {
  const [begin, end] =
    order === 'asc' ? [from ?? '-infinity', before ?? 'infinity'] : [before ?? 'infinity', from ?? '-infinity'];
  const { name, text } = statements[order];
  return sql.query<EntryRow>(name, text, [
    ...[accountId, after?.at ?? begin, after?.sequence ?? 0n, end, lastSequence, limit],
  ]);
}
