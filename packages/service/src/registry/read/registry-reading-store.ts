import type { Sql, Tx } from '../../store/sql.ts';
import type { ReadingState } from './reading-state.ts';

/** Sync progress of the registry. */
export interface Reading {
  readonly state: ReadingState;
  readonly headBlock: bigint;
  /** Highest block that counts as safe from reorgs; see `safeBlockOf`. */
  readonly safeBlock: bigint;
  /** Time of the last progress; having nothing to read counts as progress. */
  readonly goodAt: Date;
}

const columns = `state, head_block as "headBlock", safe_block as "safeBlock", good_at as "goodAt"`;

/** Locks the sync row until the transaction ends, so that one process reads at a time. Creates the row if missing. */
export async function lockReading(tx: Tx, chainId: number, now: Date): Promise<Reading> {
  await tx.query(
    'begin-registry-reading',
    `insert into registry_reading (chain_id, state, head_block, safe_block, good_at) values ($1, 'syncing', 0, 0, $2)
     on conflict do nothing`,
    [chainId, now],
  );
  const [row] = await tx.query<Reading>(
    'lock-registry-reading',
    `select ${columns} from registry_reading where chain_id = $1 for update`,
    [chainId],
  );
  return row as Reading;
}

export async function writeReading(tx: Tx, chainId: number, reading: Reading): Promise<void> {
  await tx.query(
    'write-registry-reading',
    'update registry_reading set state = $2, head_block = $3, safe_block = $4, good_at = $5 where chain_id = $1',
    [chainId, reading.state, reading.headBlock, reading.safeBlock, reading.goodAt],
  );
}

/** The sync row with the last block that was read; null before the first. */
export async function findReading(sql: Sql, chainId: number): Promise<(Reading & { block: bigint | null }) | null> {
  const [row] = await sql.query<Reading & { block: bigint | null }>(
    'find-registry-reading',
    `select ${columns}, (select max(block_number) from registry_point where chain_id = $1) as block
       from registry_reading where chain_id = $1`,
    [chainId],
  );
  return row ?? null;
}
