import type { PaymentItem } from '@agent-network/contracts/payments/payments';
import type { Sql } from '../../db/sql.ts';
import type { PagePlace } from '../../lib/page-place.ts';

export interface PaymentRow extends Omit<PaymentItem, 'amount' | 'fee' | 'createdAt'> {
  /** Net of the fee, for an earning. */
  amountMicro: bigint;
  feeMicro: bigint | null;
  createdAt: Date;
}

type PaymentType = PaymentItem['type'];

export interface PaymentQuery {
  /** Treasuries whose movements are listed, together with the wallets that paid with the account's keys. */
  readonly treasuryIds: readonly string[];
  readonly accountId: string | null;
  /** Only this type; null for all. Parts that cannot have the type are not queried. */
  readonly type: PaymentType | null;
  readonly from: Date | null;
  readonly before: Date | null;
}

const parts = {
  charges: `from transfer where kind in ('charge', 'bill') and debit_sequence is not null and debit = any($1)`,
  earnings: `from transfer where kind = 'charge' and credit_sequence is not null and credit = any($1)`,
  deposits: `from chain_payment where purpose = 'deposit' and ledger_account_id = any($1)`,
  withdrawals: `from chain_payment where purpose = 'withdrawal' and ledger_account_id = any($1)`,
  wallets: `from chain_payment where purpose in ('invocation', 'refund', 'return', 'second_return') and account_id = $2`,
  returns: `from chain_payment where purpose in ('home_refund', 'home_return') and ledger_account_id = any($1)`,
} as const;

const partNames = Object.keys(parts) as (keyof typeof parts)[];

/** Payment types that each part of the query can return. One part returns two types, which are told apart when read. */
const typesOf: Record<keyof typeof parts, readonly PaymentType[]> = {
  charges: ['charge'],
  earnings: ['earning'],
  deposits: ['deposit'],
  withdrawals: ['withdrawal'],
  wallets: ['x402', 'refund'],
  returns: ['refund'],
};

/** Filters the part with two types by the requested type, $3. */
const walletsOf = `${parts.wallets} and ($3::text is null or (purpose = 'invocation') = ($3 = 'x402'))`;
const inPeriod = 'and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at < $5)';
const sourceOf = (part: keyof typeof parts) => `${part === 'wallets' ? walletsOf : parts[part]} ${inPeriod}`;
const isAsked = (part: keyof typeof parts, type: PaymentType | null) => type === null || typesOf[part].includes(type);

/** A bill is confirmed once the agent has collected it or earned it uncollected, and failed when it was returned. */
const chargeStatus = `case when kind = 'charge' then 'confirmed' else
  (select case when p.state = 'settled' then 'confirmed' when p.state <> 'failed' then 'pending'
               when exists (select from transfer t where t.id = 'bill_return:' || p.subject_id) then 'failed' else 'confirmed' end
     from chain_payment p where p.subject_id = transfer.subject_id and p.purpose = 'bill') end`;

const chainStatus = `case when state = 'settled' then 'confirmed' when state in ('failed', 'reversed') then 'failed' else 'pending' end`;

const selects: Record<keyof typeof parts, string> = {
  charges: `select id as "paymentId", 'charge' as type, amount_micro as "amountMicro", ${chargeStatus} as status,
              subject_id as "requestId", null as "transactionHash", created_at as "createdAt", debit as "treasuryId",
              null as counterparty, null as "withdrawalId"`,
  earnings: `select id || ':earning', 'earning', amount_micro, 'confirmed', subject_id, null, created_at, credit, null, null`,
  deposits: `select id, 'deposit', value_micro, ${chainStatus}, null, transaction_hash, created_at, ledger_account_id, from_address, null`,
  withdrawals: `select id, 'withdrawal', value_micro, ${chainStatus}, null, transaction_hash, created_at, ledger_account_id, to_address, subject_id`,
  wallets: `select id, case purpose when 'invocation' then 'x402' else 'refund' end, value_micro, ${chainStatus}, subject_id,
              transaction_hash, created_at, null, case purpose when 'invocation' then from_address else to_address end, null`,
  returns: `select id, 'refund', value_micro, ${chainStatus}, subject_id, transaction_hash, created_at, ledger_account_id, from_address, null`,
};

const parameters = ({ treasuryIds, accountId, type, from, before }: PaymentQuery) => [
  treasuryIds,
  accountId,
  type,
  from,
  before,
];

export const listPaymentRows = (
  sql: Sql,
  query: PaymentQuery,
  page: { after: PagePlace | null; limit: number; offset: number },
): Promise<PaymentRow[]> => {
  const { type } = query;
  // The first select names the columns of the union.
  const asked = partNames.filter((part) => part === 'charges' || isAsked(part, type));
  const each = asked.map((part) => `${selects[part]} ${sourceOf(part)}${isAsked(part, type) ? '' : ' and false'}`);
  return sql.query<PaymentRow>(
    `list-payments-${type ?? 'all'}`,
    // References every parameter, so that each has a type.
    `with named as (select $1::text[], $2::text)
     select movement."paymentId", type, "amountMicro" - coalesce(fee.amount_micro, 0) as "amountMicro",
            fee.amount_micro as "feeMicro", movement.status, "requestId", "transactionHash", "createdAt", "treasuryId",
            coalesce(called.id, counterparty) as counterparty, called.name as "counterpartyName", "withdrawalId"
       from (select * from (${each.join(' union all ')}) each
              where ($3::text is null or type = $3)
                and ($6::timestamptz is null or "createdAt" < $6 or ("createdAt" = $6 and "paymentId" > $7))
              order by "createdAt" desc, "paymentId" limit $8 offset $9) movement
       left join transfer fee on movement.type = 'earning' and fee.id = 'fee:' || movement."requestId"
       left join invocation v on movement.type = 'charge' and v.id = movement."requestId"
       left join agent called on called.id = v.agent_id
      order by "createdAt" desc, "paymentId"`,
    [...parameters(query), page.after?.createdAt ?? null, page.after?.id ?? '', page.limit, page.offset],
  );
};

export async function countPayments(sql: Sql, query: PaymentQuery): Promise<number> {
  const { type } = query;
  const counts = partNames.filter((part) => isAsked(part, type)).map((part) => `(select count(*) ${sourceOf(part)})`);
  // References every parameter, so that each has a type.
  const [row] = await sql.query<{ total: bigint }>(
    `count-payments-${type ?? 'all'}`,
    `with named as (select $1::text[], $2::text, $3::text, $4::timestamptz, $5::timestamptz) select ${counts.join(' + ')} as total`,
    parameters(query),
  );
  return Number(row?.total ?? 0);
}

/** Sum of deposits that were shown to us and are not confirmed on chain yet. */
export async function sumPendingDeposits(sql: Sql, treasuryIds: readonly string[]): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-pending-deposits',
    `select coalesce(sum(value_micro), 0)::bigint as sum from chain_payment
      where purpose = 'deposit' and state in ('claimed', 'broadcasting') and ledger_account_id = any($1)`,
    [treasuryIds],
  );
  return row?.sum ?? 0n;
}
