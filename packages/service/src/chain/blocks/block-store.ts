import type { Sql } from '../../store/sql.ts';

/** A block with a transaction or payment of this node. */
export interface SeenBlock {
  readonly number: bigint;
  readonly hash: string;
}

/** Lists the blocks from a height upwards in which transactions or settled payments are recorded. */
export const listSeenBlocks = (sql: Sql, chainId: number, fromBlock: bigint): Promise<SeenBlock[]> =>
  sql.query<SeenBlock>(
    'list-seen-blocks',
    `select mined_block as number, block_hash as hash from chain_transaction
      where chain_id = $1 and mined_block >= $2 and block_hash is not null
     union
     select block_number, block_hash from chain_payment
      where chain_id = $1 and block_number >= $2 and block_hash is not null and state = 'settled'`,
    [chainId, fromBlock],
  );

/** Hashes of this node's transactions in these blocks of a chain. */
export async function transactionsInBlocks(sql: Sql, chainId: number, blocks: readonly SeenBlock[]): Promise<string[]> {
  const rows = await sql.query<{ hash: string }>(
    'transactions-in-blocks',
    `select hash from chain_transaction
      where chain_id = $1 and mined_block = any($2) and block_hash is not null and block_hash = any($3) order by signer, nonce`,
    [chainId, blocks.map(({ number }) => number), blocks.map(({ hash }) => hash)],
  );
  return rows.map(({ hash }) => hash);
}
