import { run, type Sql, type Statement, type Tx } from '../store/sql.ts';
import { freeKey, freeKeyOf, lockKey, lockKeyOf, type SignerKey, strandKey } from './keys/signer-store.ts';
import type { MinedTransaction } from './usdc-client.ts';

export interface StoredTransaction {
  readonly hash: string;
  readonly raw: string;
  readonly minedAtS: bigint | null;
}

/** The transactions that a key has sent under one nonce, at rising fees; the chain takes at most one of them. */
export interface OpenNonce extends SignerKey {
  readonly nonce: bigint;
  /** Newest first. */
  readonly hashes: readonly string[];
  /** Bytes of the newest transaction. */
  readonly raw: string;
  readonly newestAt: Date;
  readonly firstAt: Date;
}

export async function insertTransaction(sql: Sql, key: SignerKey, transaction: NewTransaction): Promise<void> {
  await run(sql, transactionInserted(key, transaction));
}

interface NewTransaction {
  readonly hash: string;
  readonly nonce: bigint;
  readonly raw: string;
  readonly costWei: bigint;
  readonly now: Date;
}

/** Statement that inserts a transaction. */
export const transactionInserted = (key: SignerKey, transaction: NewTransaction): Statement => ({
  name: 'insert-chain-transaction',
  text: `insert into chain_transaction (hash, chain_id, signer, nonce, raw, state, created_at, cost_wei)
     values ($1, $2, $3, $4, $5, 'sent', $6, $7)`,
  params: [
    ...[transaction.hash, key.chainId, key.signer, transaction.nonce, transaction.raw, transaction.now],
    transaction.costWei,
  ],
});

/** Records the block of a transaction, marks the others under its nonce as replaced and frees its key. Idempotent. */
export async function markMined(
  tx: Tx,
  mined: Pick<MinedTransaction, 'hash' | 'blockNumber' | 'blockHash' | 'index' | 'minedAtS' | 'costWei'>,
): Promise<void> {
  const locked = lockKeyOf(tx, mined.hash);
  const replaced = tx.query(
    'mark-replaced',
    `update chain_transaction t
        set state = 'replaced', mined_block = null, mined_at_s = null, block_hash = null, block_index = null
       from chain_transaction one
      where one.hash = $1 and t.chain_id = one.chain_id and t.signer = one.signer and t.nonce = one.nonce and t.hash <> $1`,
    [mined.hash],
  );
  const marked = tx.query(
    'mark-mined',
    `update chain_transaction set state = 'mined', mined_block = $2, mined_at_s = $3, block_hash = $4, block_index = $5, cost_wei = $6
      where hash = $1`,
    [mined.hash, mined.blockNumber, mined.minedAtS, mined.blockHash, mined.index, mined.costWei],
  );
  await Promise.all([locked, replaced, marked, freeKeyOf(tx, mined.hash)]);
}

/** Records that a foreign transaction used the nonce: none of this node's transactions under it will ever be mined. */
export async function markReplaced(tx: Tx, { chainId, signer, nonce }: OpenNonce): Promise<void> {
  await lockKey(tx, { chainId, signer });
  await tx.query(
    'mark-all-replaced',
    `update chain_transaction set state = 'replaced' where chain_id = $1 and signer = $2 and nonce = $3 and state = 'sent'`,
    [chainId, signer, nonce],
  );
  await freeKey(tx, { chainId, signer });
}

/** Reopens all transactions of a nonce after a reorg removed the block of the mined one. */
export async function reopenNonce(tx: Tx, hash: string): Promise<void> {
  await lockKeyOf(tx, hash);
  const rows = await tx.query<SignerKey>(
    'reopen-nonce',
    `update chain_transaction t
        set state = 'sent', mined_block = null, mined_at_s = null, block_hash = null, block_index = null
       from chain_transaction one
      where one.hash = $1 and t.chain_id = one.chain_id and t.signer = one.signer and t.nonce = one.nonce
     returning t.chain_id as "chainId", t.signer`,
    [hash],
  );
  if (rows[0]) await strandKey(tx, rows[0]);
}

export const HAS_OPEN_NONCES = `(select hash from chain_transaction where chain_id = given.chain_id and state = 'sent'
  order by chain_id, signer, nonce limit 1) is not null`;

/** Lists unmined nonces first sent before a time, in nonce order per key. */
export const listOpenNonces = (sql: Sql, chainId: number, before: Date): Promise<OpenNonce[]> =>
  sql.query<OpenNonce>(
    'list-open-nonces',
    `select chain_id as "chainId", signer, nonce, array_agg(hash order by created_at desc, hash) as hashes,
            (array_agg(raw order by created_at desc, hash))[1] as raw,
            max(created_at) as "newestAt", min(created_at) as "firstAt"
       from chain_transaction where chain_id = $1 and state = 'sent'
      group by chain_id, signer, nonce having min(created_at) <= $2 order by signer, nonce`,
    [chainId, before],
  );

/** Hashes of all transactions under the same nonce as this one, newest first: any of them may be the mined one. */
export async function hashesOfNonce(sql: Sql, hash: string): Promise<string[]> {
  const rows = await sql.query<{ hash: string }>(
    'hashes-of-nonce',
    `select t.hash from chain_transaction one
       join chain_transaction t on t.chain_id = one.chain_id and t.signer = one.signer and t.nonce = one.nonce
      where one.hash = $1 order by t.created_at desc, t.hash`,
    [hash],
  );
  return rows.map((row) => row.hash);
}

/** Counts the transactions under the same nonce that are or may still be mined. */
export async function countLiving(sql: Sql, hash: string): Promise<number> {
  const [row] = await sql.query<{ living: number }>(
    'count-living-of-nonce',
    `select count(*)::int as living from chain_transaction one
       join chain_transaction t on t.chain_id = one.chain_id and t.signer = one.signer and t.nonce = one.nonce
      where one.hash = $1 and t.state <> 'replaced'`,
    [hash],
  );
  return row?.living ?? 0;
}

/** Hashes of open transactions under the same nonce; empty when the nonce is known to be mined or given up. */
export async function openHashesOfNonce(sql: Sql, hash: string): Promise<string[]> {
  const rows = await sql.query<{ hash: string }>(
    'open-hashes-of-nonce',
    `select t.hash from chain_transaction one
       join chain_transaction t on t.chain_id = one.chain_id and t.signer = one.signer and t.nonce = one.nonce
      where one.hash = $1 and t.state = 'sent' order by t.created_at desc, t.hash`,
    [hash],
  );
  return rows.map((row) => row.hash);
}

/** The transactions that a chain which lost its newest blocks may lack: one per nonce, in sending order. Reads as many as it returns. */
export const listNewest = (sql: Sql, chainId: number, limit: number): Promise<StoredTransaction[]> =>
  sql.query<StoredTransaction>(
    'list-newest-transactions',
    `with newest as (
       (select * from chain_transaction where chain_id = $1 and state = 'sent' order by signer desc, nonce desc limit $2)
       union all
       (select * from chain_transaction where chain_id = $1 and block_hash is not null
         order by mined_block desc, block_index desc limit $2)
     )
     select hash, raw, mined_at_s as "minedAtS" from (
       select distinct on (signer, nonce) * from newest order by signer, nonce, created_at desc, hash
     ) one_each order by mined_block desc nulls first, block_index desc, nonce desc limit $2`,
    [chainId, limit],
  );

/** Number of the signer's transactions that were seen in a block. */
export async function countMined(sql: Sql, key: SignerKey): Promise<bigint> {
  const [row] = await sql.query<{ mined: bigint }>(
    'count-mined',
    `select coalesce(max(nonce) + 1, 0)::bigint as mined from chain_transaction
      where chain_id = $1 and signer = $2 and state = 'mined'`,
    [key.chainId, key.signer],
  );
  return row?.mined ?? 0n;
}

/** Raw bytes of a signer's transactions from a nonce on, in order. */
export async function listRawFrom(sql: Sql, key: SignerKey, nonce: bigint): Promise<string[]> {
  const rows = await sql.query<{ raw: string }>(
    'list-raw-from',
    `select raw from chain_transaction where chain_id = $1 and signer = $2 and nonce >= $3 and state <> 'replaced'
      order by nonce, created_at desc limit 1000`,
    [key.chainId, key.signer, nonce],
  );
  return rows.map(({ raw }) => raw);
}
