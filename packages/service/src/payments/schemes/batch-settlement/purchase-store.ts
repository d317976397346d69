import type { Sql } from '../../../store/sql.ts';
import { owedBy } from './channel-store.ts';

/** An earlier purchase: its request, and the hash of its content. */
export interface EarlierPurchase {
  readonly requestId: string;
  readonly fingerprint: Buffer | null;
}

/** Calls paid by a voucher or by a payment of their own, by their ids, with the payers' debts (see `sumOwed`). */
export async function findPurchases(sql: Sql, requestIds: readonly string[], payers: readonly string[]) {
  type Row = EarlierPurchase & { readonly payer: string | null; readonly micro: bigint };
  const rows = await sql.query<Row>(
    'find-purchases',
    `select request_id as "requestId", fingerprint, null as payer, null::bigint as micro from channel_charge where request_id = any($1)
     union all
     select subject_id, fingerprint, null, null from chain_payment
      where subject_id = any($1) and purpose = 'invocation' and state <> 'failed'
     union all
     select null, null, payer, micro from (${owedBy('$2')}) owed`,
    [requestIds, payers],
  );
  return {
    purchases: rows.filter(({ payer }) => payer === null),
    owed: new Map(rows.flatMap(({ payer, micro }) => (payer === null ? [] : [[payer, micro]]))),
  };
}

/** Purchases of an account under these keys, except those with a failed payment. */
export const findKeyedPurchases = (sql: Sql, accountId: string, keys: readonly string[]): Promise<EarlierPurchase[]> =>
  sql.query<EarlierPurchase>(
    'find-keyed-purchases',
    `select coalesce(p.subject_id, g.request_id) as "requestId", coalesce(p.fingerprint, g.fingerprint) as fingerprint
       from purchase_key k
       left join chain_payment p on p.id = k.payment_id and p.purpose = 'invocation' and p.state <> 'failed'
       left join channel_charge g on g.request_id = k.payment_id
      where k.account_id = $1 and k.key = any($2) and (p.id is not null or g.request_id is not null) order by k.created_at`,
    [accountId, keys],
  );

/** Exactly this, bought by an account since then. */
export interface PurchaseSince {
  readonly accountId: string;
  readonly fingerprint: Buffer;
  readonly after: Date;
}

/** Calls of an account that are looked at for a voucher, newest first. */
const MAX_CALLS = 10_000;

/**
 * The request of an account's latest identical purchase, by any scheme, except failed payments; null: none since then. Charges have no
 * account: they are found by the account's calls, in their order, each by its key.
 */
export async function findLastPurchase(
  sql: Sql,
  { accountId, fingerprint, after }: PurchaseSince,
): Promise<string | null> {
  const [row] = await sql.query<{ requestId: string }>(
    'find-last-purchase',
    `select request_id as "requestId" from (
       (select subject_id as request_id, created_at from chain_payment
         where account_id = $1 and created_at > $3 and fingerprint = $2 and purpose = 'invocation' and direction = 'in'
           and state in ('claimed', 'broadcasting', 'settled')
         order by created_at desc limit 1)
       union all
       (select v.id, v.created_at
          from (select id, created_at from invocation where account_id = $1 and created_at > $3
                 order by created_at desc, id limit ${MAX_CALLS}) v
          cross join lateral (
            select from channel_charge g where g.request_id = v.id and g.fingerprint = $2 limit 1) g
         order by v.created_at desc limit 1)) p
      order by created_at desc limit 1`,
    [accountId, fingerprint, after],
  );
  return row?.requestId ?? null;
}
