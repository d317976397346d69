import { run, type Sql, type Statement, type Tx } from '../../../store/sql.ts';

export interface PurchaseKey {
  readonly accountId: string;
  readonly key: string;
  readonly paymentId: string;
}

/** SQL: true if a payment left nothing behind. A reversed deposit has no credit any more; a call with a reversed payment still happened. */
const movedNothing = `(p.state = 'failed' or p.state = 'reversed' and p.purpose = 'deposit')`;

/** Payments held by an account's purchase keys, by key; those that moved nothing are left out. */
export const findKeyedPayments = (
  sql: Sql,
  accountId: string,
  keys: readonly string[],
): Promise<{ paymentId: string }[]> =>
  sql.query<{ paymentId: string }>(
    'find-keyed-payments',
    `select k.payment_id as "paymentId" from purchase_key k join chain_payment p on p.id = k.payment_id
      where k.account_id = $1 and k.key = any($2) and not ${movedNothing} order by k.created_at`,
    [accountId, keys],
  );

/** Claims keys for payments in the caller's transaction; returns those that were free, or belonged to a payment that moved nothing. */
export const takePurchaseKeys = (tx: Tx, wanted: readonly PurchaseKey[], now: Date): Promise<PurchaseKey[]> =>
  run(tx, purchaseKeysTaken(wanted, now));

/** Guarded flush statement that takes purchase keys. It fails unless all of them are taken. */
export function allPurchaseKeysTaken(wanted: readonly PurchaseKey[], now: Date): Statement {
  const { text, params } = purchaseKeysTaken(wanted, now);
  return {
    name: 'take-all-purchase-keys',
    text: `with taken as (${text}) select require_true(count(*) = cardinality($1::text[])) from taken`,
    params,
  };
}

const purchaseKeysTaken = (wanted: readonly PurchaseKey[], now: Date): Statement<PurchaseKey> => ({
  name: 'take-purchase-keys',
  text: `insert into purchase_key as k (account_id, key, payment_id, created_at)
     select account, key, payment, $4 from unnest($1::text[], $2::text[], $3::text[]) as n(account, key, payment) order by 1, 2
     on conflict (account_id, key) do update set payment_id = excluded.payment_id, created_at = excluded.created_at
       where exists (select from chain_payment p where p.id = k.payment_id and ${movedNothing})
     returning account_id as "accountId", key, payment_id as "paymentId"`,
  params: [wanted.map((w) => w.accountId), wanted.map((w) => w.key), wanted.map((w) => w.paymentId), now],
});

/** Releases those of the keys that are held by these payments, which were not claimed after all. */
export async function dropPurchaseKeys(tx: Tx, held: readonly PurchaseKey[]): Promise<void> {
  if (held.length === 0) return;
  await tx.query(
    'drop-purchase-keys',
    `delete from purchase_key k using unnest($1::text[], $2::text[], $3::text[]) as n(account, key, payment)
      where k.account_id = n.account and k.key = n.key and k.payment_id = n.payment`,
    [held.map((h) => h.accountId), held.map((h) => h.key), held.map((h) => h.paymentId)],
  );
}

/** Removes up to `most` keys taken before a time. Returns their number. */
export async function dropOldPurchaseKeys(sql: Sql, before: Date, most: number): Promise<number> {
  const gone = await sql.query(
    'drop-old-purchase-keys',
    // The condition stands outside too: a key that is renewed meanwhile is judged as it is then.
    `delete from purchase_key where created_at < $1 and (account_id, key) in (
       select account_id, key from purchase_key where created_at < $1 order by created_at limit $2)
     returning 1`,
    [before, most],
  );
  return gone.length;
}
