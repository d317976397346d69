import type { Sql } from '../../../db/sql.ts';

/** A purchase that was made: its request, and the hash of what exactly was bought. */
export interface EarlierPurchase {
  readonly requestId: string;
  readonly fingerprint: Buffer | null;
}

/** Calls that were paid by a voucher or by a payment of their own, by their ids. */
export const findPurchases = (sql: Sql, requestIds: readonly string[]): Promise<EarlierPurchase[]> =>
  sql.query<EarlierPurchase>(
    'find-purchases',
    `select request_id as "requestId", fingerprint from channel_charge where request_id = any($1)
     union all
     select subject_id, fingerprint from chain_payment
      where subject_id = any($1) and purpose = 'invocation' and state <> 'failed'`,
    [requestIds],
  );

/** The purchases that an account made under these keys; those whose payment failed are left out. */
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
