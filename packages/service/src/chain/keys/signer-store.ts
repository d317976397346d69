import type { Sql, Statement, Tx } from '../../store/sql.ts';
import type { Lease } from './signer.ts';

export interface SignerKey {
  readonly chainId: number;
  readonly signer: string;
}

/** A key without an open transaction, with its next nonce. Null when no key is free. */
export async function findFreeKey(
  sql: Sql,
  { chainId, signers }: { readonly chainId: number; readonly signers: readonly string[] },
): Promise<NextNonce | null> {
  const [row] = await sql.query<NextNonce>(
    'find-free-key',
    `select chain_id as "chainId", address as signer, next_nonce as nonce from chain_signer
      where chain_id = $1 and address = any($2) and leased_by is null order by random() limit 1`,
    [chainId, signers],
  );
  return row ?? null;
}

export interface NextNonce extends SignerKey {
  readonly nonce: bigint;
}

/** A nonce to take, or the first of several. */
interface NonceToTake extends NextNonce, Lease {
  readonly nonces: number;
}

/**
 * Takes a key at the nonce found before, unless it was taken, used or locked meanwhile. A rolled-back transaction frees its nonces, so
 * there are no gaps.
 */
export async function takeKeyAt(sql: Sql, nonce: NonceToTake): Promise<boolean> {
  return (await sql.query('take-key-at', TAKEN_AT, takenAtParams(nonce))).length > 0;
}

/** Guarded flush statement that takes a key at a nonce. It fails if the key can't be taken. */
export const keyTakenAt = (nonce: NonceToTake): Statement => ({
  name: 'take-key-at-or-fail',
  text: `with taken as (${TAKEN_AT}) select require_true(exists (select from taken))`,
  params: takenAtParams(nonce),
});

const TAKEN_AT = `update chain_signer s
    set next_nonce = next_nonce + $5::integer, leased_by = $3, leased_until = clock_timestamp() + $4 * interval '1 millisecond'
   from (select address from chain_signer
          where chain_id = $1 and address = $2 and leased_by is null and next_nonce = $6 for update skip locked) free
  where s.chain_id = $1 and s.address = free.address
 returning 1`;

const takenAtParams = ({ chainId, signer, holder, leaseMs, nonces, nonce }: NonceToTake): unknown[] => [
  ...[chainId, signer, holder, leaseMs, nonces, nonce],
];

/** Prolongs a lease. False when another holder has it by now. */
export async function extendLease(sql: Sql, key: SignerKey, { holder, leaseMs }: Lease): Promise<boolean> {
  const rows = await sql.query(
    'extend-lease',
    `update chain_signer set leased_until = clock_timestamp() + $4 * interval '1 millisecond'
      where chain_id = $1 and address = $2 and leased_by = $3 returning address`,
    [key.chainId, key.signer, holder, leaseMs],
  );
  return rows.length > 0;
}

/** Releases the lease: the key's open transaction is left to the transaction monitor. */
export const endLease = (sql: Sql, key: SignerKey, holder: string): Promise<boolean> =>
  extendLease(sql, key, { holder, leaseMs: 0 });

/** The lease has expired, or belongs to this holder already. */
const isLeft = `chain_id = $1 and (leased_by is null or leased_by = $2 or leased_until <= clock_timestamp())`;

/** Lists keys without a living lease that have open transactions, or are still leased. */
export async function listLeftKeys(sql: Sql, chainId: number, holder: string): Promise<string[]> {
  const rows = await sql.query<{ address: string }>(
    'list-left-keys',
    `select address from chain_signer s
      where ${isLeft} and (leased_by is not null or exists (
        select from chain_transaction t where t.chain_id = $1 and t.signer = s.address and t.state = 'sent'))`,
    [chainId, holder],
  );
  return rows.map(({ address }) => address);
}

/**
 * Takes over those of the keys that have open transactions, and frees the others. The keys are locked by a separate statement first: one
 * that waits for a key would see the transactions of before, and take a key that has just been freed.
 */
export async function takeLeftKeys(
  tx: Tx,
  chainId: number,
  { keys, holder, leaseMs }: Lease & { keys: readonly string[] },
): Promise<ReadonlySet<string>> {
  const locked = await tx.query<{ address: string }>(
    'lock-left-keys',
    `select address from chain_signer where ${isLeft} and address = any($3) order by address for update skip locked`,
    [chainId, holder, keys],
  );
  const rows = await tx.query<{ address: string; isOpen: boolean }>(
    'take-left-keys',
    `update chain_signer s
        set leased_by = case when is_open then $2 end,
            leased_until = case when is_open then clock_timestamp() + $3 * interval '1 millisecond' end
       from (select address, exists (
               select from chain_transaction t where t.chain_id = $1 and t.signer = k.address and t.state = 'sent') as is_open
               from unnest($4::text[]) as k(address)) k
      where s.chain_id = $1 and s.address = k.address
     returning s.address, is_open as "isOpen"`,
    [chainId, holder, leaseMs, locked.map(({ address }) => address)],
  );
  return new Set(rows.flatMap(({ address, isOpen }) => (isOpen ? [address] : [])));
}

/** Marks a free key as stranded: it can't be taken until its open transactions have been checked. A leased one is only locked. */
export async function strandKey(sql: Sql, key: SignerKey): Promise<void> {
  await sql.query(
    'strand-key',
    `update chain_signer
        set leased_by = coalesce(leased_by, 'nobody'), leased_until = coalesce(leased_until, clock_timestamp())
      where chain_id = $1 and address = $2`,
    [key.chainId, key.signer],
  );
}

/**
 * Locks the key that has sent this transaction. Do this before ending or reopening one of its transactions: a statement that waits for the
 * key would decide by the transactions of before.
 */
export async function lockKeyOf(tx: Tx, hash: string): Promise<void> {
  await tx.query(
    'lock-key-of',
    `select from chain_signer where (chain_id, address) = (select chain_id, signer from chain_transaction where hash = $1) for update`,
    [hash],
  );
}

/** Locks a key until the transaction ends. */
export async function lockKey(tx: Tx, key: SignerKey): Promise<void> {
  await tx.query('lock-signer', 'select from chain_signer where chain_id = $1 and address = $2 for update', [
    key.chainId,
    key.signer,
  ]);
}

/** Frees a key, unless it has other open transactions. Runs in the transaction that ends its open transaction. */
export async function freeKey(sql: Sql, key: SignerKey): Promise<void> {
  await sql.query(
    'free-key',
    `update chain_signer s set leased_by = null, leased_until = null
      where chain_id = $1 and address = $2 and leased_by is not null
        and not exists (select from chain_transaction t where t.chain_id = $1 and t.signer = $2 and t.state = 'sent')`,
    [key.chainId, key.signer],
  );
}

/** Frees the key that has sent this transaction, as `freeKey` does. */
export async function freeKeyOf(sql: Sql, hash: string): Promise<void> {
  await sql.query(
    'free-key-of',
    `update chain_signer s set leased_by = null, leased_until = null
       from chain_transaction one
      where one.hash = $1 and s.chain_id = one.chain_id and s.address = one.signer and s.leased_by is not null
        and not exists (select from chain_transaction t
                         where t.chain_id = one.chain_id and t.signer = one.signer and t.state = 'sent')`,
    [hash],
  );
}

/**
 * Resets a key's next nonce to the chain's after someone else used one of its nonces. A given-up transaction may have taken another nonce
 * for a delegation (EIP-7702), which will never be used: later transactions would wait behind it for ever. Runs in the caller's
 * transaction.
 */
export async function resumeSigner(tx: Tx, key: SignerKey, chainNonce: number): Promise<void> {
  // Locked by a statement of its own, so that the next one sees what another process has sent meanwhile.
  await lockKey(tx, key);
  await registerSigner(tx, key, chainNonce);
  await tx.query(
    'resume-signer',
    `update chain_signer s set next_nonce = $3 where chain_id = $1 and address = $2 and not exists (
       select from chain_transaction t where t.chain_id = $1 and t.signer = $2 and t.nonce >= $3)`,
    [key.chainId, key.signer, chainNonce],
  );
}

/** Registers a key with the chain's nonce. A known key keeps its own next nonce unless the chain's is higher. */
export async function registerSigner(sql: Sql, key: SignerKey, chainNonce: number): Promise<void> {
  await sql.query(
    'register-signer',
    `insert into chain_signer (chain_id, address, next_nonce) values ($1, $2, $3)
     on conflict (chain_id, address) do update set next_nonce = greatest(chain_signer.next_nonce, excluded.next_nonce)`,
    [key.chainId, key.signer, chainNonce],
  );
}

/** Wei that the transactions of these keys sent since a time have cost, or may cost at most while they are not mined. */
export async function readSpentWei(
  sql: Sql,
  { chainId, signers }: { readonly chainId: number; readonly signers: readonly string[] },
  since: Date,
): Promise<bigint> {
  const [row] = await sql.query<{ spent: string }>(
    'read-spent-wei',
    `select coalesce(sum(most), 0)::text as spent from (
       select max(cost_wei) as most from chain_transaction
        where chain_id = $1 and created_at > $2 and signer = any($3) and state <> 'replaced' group by signer, nonce
     ) each`,
    [chainId, since, signers],
  );
  return BigInt(row?.spent ?? 0);
}
