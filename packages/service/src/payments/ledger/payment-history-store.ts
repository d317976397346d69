import type { PaymentItem } from '@agent-network/contracts/payments/payments';
import type { PagePosition } from '../../lib/page-position.ts';
import type { Sql } from '../../store/sql.ts';

export interface PaymentRow extends Omit<PaymentItem, 'amount' | 'fee' | 'createdAt'> {
  /** Net of the fee, for an earning. */
  amountMicro: bigint;
  feeMicro: bigint | null;
  createdAt: Date;
}

type PaymentType = PaymentItem['type'];

export interface PaymentQuery {
  /** Treasuries to list the movements of, together with the wallets that paid with the account's keys. */
  readonly treasuryIds: readonly string[];
  readonly accountId: string | null;
  /** Only this type; null for all. Parts that cannot have the type are not queried. */
  readonly type: PaymentType | null;
  readonly from: Date | null;
  readonly before: Date | null;
}

/** Rows of each part, with their condition on one treasury, `t.id`, or on the account, $2. */
const parts = {
  charges: `transfer where kind in ('charge', 'bill') and debit_sequence is not null and debit = t.id`,
  earnings: `transfer where kind = 'charge' and credit_sequence is not null and credit = t.id`,
  deposits: `chain_payment where purpose = 'deposit' and ledger_account_id = t.id`,
  withdrawals: `chain_payment where purpose = 'withdrawal' and ledger_account_id = t.id`,
  paid: `chain_payment where purpose = 'invocation' and account_id = $2`,
  refunded: `chain_payment where purpose in ('refund', 'return', 'second_return') and account_id = $2`,
  returns: `chain_payment where purpose in ('home_refund', 'home_return') and ledger_account_id = t.id`,
} as const;

const partNames = Object.keys(parts) as (keyof typeof parts)[];

/** The payment type that each part returns. */
const typeOf: Record<keyof typeof parts, PaymentType> = {
  charges: 'charge',
  earnings: 'earning',
  deposits: 'deposit',
  withdrawals: 'withdrawal',
  paid: 'x402',
  refunded: 'refund',
  returns: 'refund',
};

/** Maximum number of payments that are counted; offsets end there too, and cursors continue. */
const MAX_COUNTED = 10_000;

const ofAccount = (part: keyof typeof parts) => part === 'paid' || part === 'refunded';
const isAsked = (part: keyof typeof parts, type: PaymentType | null) => type === null || typeOf[part] === type;
/** Bounds are always given, as an optional one would not limit the range of an index. */
const inPeriod = 'created_at >= $4 and created_at < $5';

/** Rows of a part, at most `limit` of each treasury, which is enough for a complete page. */
function rowsOf(part: keyof typeof parts, columns: string, { after = '', order = '', limit = '' }): string {
  const rows = `select ${columns} from ${parts[part]} and ${inPeriod} ${after} ${order} limit ${limit}`;
  return ofAccount(part)
    ? `(${rows})`
    : `(select each.* from unnest($1::text[]) as t (id) cross join lateral (${rows}) each)`;
}

/** A bill is confirmed once the agent has collected it or earned it uncollected, and failed when it was returned. */
const chargeStatus = `case when kind = 'charge' then 'confirmed' else
  (select case when p.state = 'settled' then 'confirmed' when p.state <> 'failed' then 'pending'
               when exists (select from transfer t where t.id = 'bill_return:' || p.subject_id) then 'failed' else 'confirmed' end
     from chain_payment p where p.subject_id = transfer.subject_id and p.purpose = 'bill') end`;

const chainStatus = `case when state = 'settled' then 'confirmed' when state in ('failed', 'reversed') then 'failed' else 'pending' end`;

const selects: Record<keyof typeof parts, string> = {
  charges: `id as "paymentId", 'charge' as type, amount_micro as "amountMicro", ${chargeStatus} as status,
              subject_id as "requestId", null as "transactionHash", created_at as "createdAt", debit as "treasuryId",
              null as counterparty, null as "withdrawalId"`,
  earnings: `id || ':earning', 'earning', amount_micro, 'confirmed', subject_id, null, created_at, credit, null, null`,
  deposits: `id, 'deposit', value_micro, ${chainStatus}, null, transaction_hash, created_at, ledger_account_id, from_address, null`,
  withdrawals: `id, 'withdrawal', value_micro, ${chainStatus}, null, transaction_hash, created_at, ledger_account_id, to_address, subject_id`,
  paid: `id, 'x402', value_micro, ${chainStatus}, subject_id, transaction_hash, created_at, null, from_address, null`,
  refunded: `id, 'refund', value_micro, ${chainStatus}, subject_id, transaction_hash, created_at, null, to_address, null`,
  returns: `id, 'refund', value_micro, ${chainStatus}, subject_id, transaction_hash, created_at, ledger_account_id, from_address, null`,
};

const parameters = ({ treasuryIds, accountId, type, from, before }: PaymentQuery) => [
  treasuryIds,
  accountId,
  type,
  from ?? '-infinity',
  before ?? 'infinity',
];

/** Gives each parameter a type, used or not. */
const TYPED = 'named as (select $1::text[], $2::text, $3::text, $4::timestamptz, $5::timestamptz)';

const wholeIds: Record<keyof typeof parts, string> = {
  charges: 'id',
  earnings: `id || ':earning'`,
  deposits: 'id',
  withdrawals: 'id',
  paid: 'id',
  refunded: 'id',
  returns: 'id',
};

/** Payments after a position, newest first: each part reads as many rows as the page could show, however many there are. */
export const listPaymentRows = (
  sql: Sql,
  query: PaymentQuery,
  page: { after: PagePosition | null; limit: number; offset: number },
): Promise<PaymentRow[]> => {
  const { type } = query;
  const each = partNames
    .filter((part) => part === 'charges' || isAsked(part, type))
    .map((part) => {
      const id = wholeIds[part];
      // The first select names the columns of the union.
      const asked = isAsked(part, type) ? '' : 'and false';
      const after = `and created_at <= $6 and (created_at < $6 or ${id} > $7) ${asked}`;
      return rowsOf(part, selects[part], {
        after,
        order: `order by created_at desc, ${id}`,
        limit: '$8::int + $9::int',
      });
    });
  return sql.query<PaymentRow>(
    `list-payments-${type ?? 'all'}`,
    `with ${TYPED}
     select movement."paymentId", type, "amountMicro" - coalesce(fee.amount_micro, 0) as "amountMicro",
            fee.amount_micro as "feeMicro", movement.status, "requestId", "transactionHash", "createdAt", "treasuryId",
            coalesce(called.id, counterparty) as counterparty, called.name as "counterpartyName", "withdrawalId"
       from (select * from (${each.join(' union all ')}) each
              order by "createdAt" desc, "paymentId" limit $8::int offset $9::int) movement
       left join transfer fee on movement.type = 'earning' and fee.id = 'fee:' || movement."requestId"
       left join invocation v on movement.type = 'charge' and v.id = movement."requestId"
       left join agent called on called.id = v.agent_id
      order by "createdAt" desc, "paymentId"`,
    [...parameters(query), page.after?.createdAt ?? 'infinity', page.after?.id ?? '', page.limit, page.offset],
  );
};

/** Number of matching payments: exact up to `MAX_COUNTED`. */
export async function countPayments(sql: Sql, query: PaymentQuery): Promise<number> {
  const { type } = query;
  const each = partNames
    .filter((part) => isAsked(part, type))
    .map((part) => rowsOf(part, '1', { limit: `${MAX_COUNTED}` }));
  const [row] = await sql.query<{ total: bigint }>(
    `count-payments-${type ?? 'all'}`,
    `with ${TYPED} select count(*) as total from (select from (${each.join(' union all ')}) each limit ${MAX_COUNTED}) counted`,
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
