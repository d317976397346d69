import type { Sql } from '../../db/sql.ts';

export interface StoredTransaction {
  readonly hash: string;
  readonly nonce: bigint;
  readonly raw: string;
  readonly state: 'sent' | 'mined';
  readonly minedAtS: bigint | null;
}

interface SignerKey {
  readonly chainId: number;
  readonly signer: string;
}

/** Gives out the next nonce of a signer. Nonces that a rolled-back transaction took are given out again: there are no gaps. */
export async function takeNonce(sql: Sql, key: SignerKey): Promise<bigint> {
  const [row] = await sql.query<{ nonce: bigint }>(
    'take-nonce',
    `update chain_signer set next_nonce = next_nonce + 1 where chain_id = $1 and address = $2 returning next_nonce - 1 as nonce`,
    [key.chainId, key.signer],
  );
  if (!row) throw new Error(`signer ${key.signer} is not registered`);
  return row.nonce;
}

/** Starts the count of a signer at what the chain says; a signer that is known keeps its own count. */
export async function registerSigner(sql: Sql, key: SignerKey, chainNonce: number): Promise<bigint> {
  const [row] = await sql.query<{ nextNonce: bigint }>(
    'register-signer',
    `insert into chain_signer (chain_id, address, next_nonce) values ($1, $2, $3)
     on conflict (chain_id, address) do update set next_nonce = greatest(chain_signer.next_nonce, excluded.next_nonce)
     returning next_nonce as "nextNonce"`,
    [key.chainId, key.signer, chainNonce],
  );
  return row?.nextNonce ?? 0n;
}

export async function insertTransaction(
  sql: Sql,
  key: SignerKey,
  transaction: { hash: string; nonce: bigint; raw: string; now: Date },
): Promise<void> {
  await sql.query(
    'insert-chain-transaction',
    `insert into chain_transaction (hash, chain_id, signer, nonce, raw, state, created_at) values ($1, $2, $3, $4, $5, 'sent', $6)`,
    [transaction.hash, key.chainId, key.signer, transaction.nonce, transaction.raw, transaction.now],
  );
}

export async function markMined(sql: Sql, hash: string, block: { number: bigint; atS: bigint }): Promise<void> {
  await sql.query(
    'mark-mined',
    `update chain_transaction set state = 'mined', mined_block = $2, mined_at_s = $3 where hash = $1`,
    [hash, block.number, block.atS],
  );
}

const columns = 'hash, nonce, raw, state, mined_at_s as "minedAtS"';

/** Transactions sent before a time and not seen in a block, in the order of their nonces. */
export const listUnmined = (sql: Sql, key: SignerKey, before: Date): Promise<StoredTransaction[]> =>
  sql.query<StoredTransaction>(
    'list-unmined',
    `select ${columns} from chain_transaction
      where chain_id = $1 and signer = $2 and state = 'sent' and created_at <= $3 order by nonce limit 500`,
    [key.chainId, key.signer, before],
  );

/** The newest transactions, in the order of their nonces. */
export const listNewest = (sql: Sql, key: SignerKey, limit: number): Promise<StoredTransaction[]> =>
  sql.query<StoredTransaction>(
    'list-newest-transactions',
    `select * from (
       select ${columns} from chain_transaction where chain_id = $1 and signer = $2 order by nonce desc limit $3
     ) newest order by nonce`,
    [key.chainId, key.signer, limit],
  );

/** How many transactions of the signer were seen in a block. */
export async function countMined(sql: Sql, key: SignerKey): Promise<bigint> {
  const [row] = await sql.query<{ mined: bigint }>(
    'count-mined',
    `select coalesce(max(nonce) + 1, 0)::bigint as mined from chain_transaction
      where chain_id = $1 and signer = $2 and state = 'mined'`,
    [key.chainId, key.signer],
  );
  return row?.mined ?? 0n;
}
