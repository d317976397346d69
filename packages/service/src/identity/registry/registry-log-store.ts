import type { Tx } from '../../db/sql.ts';
import type { RegistryLog } from './registry-logs.ts';

/** Inserts logs, in one statement however many they are. */
export async function insertLogs(tx: Tx, chainId: number, logs: readonly RegistryLog[]): Promise<void> {
  if (logs.length === 0) return;
  const of = <T>(pick: (log: RegistryLog) => T): T[] => logs.map(pick);
  await tx.query(
    'insert-registry-logs',
    `insert into registry_log
        (chain_id, block_number, log_index, transaction_hash, token_id, kind, value, bytes, fault)
     select $1, * from unnest($2::bigint[], $3::integer[], $4::text[], $5::numeric[], $6::text[], $7::text[], $8::bytea[], $9::text[])`,
    [
      chainId,
      of((log) => log.block),
      of((log) => log.index),
      of((log) => log.transactionHash),
      of((log) => log.tokenId),
      of((log) => log.kind),
      of((log) => log.value),
      of((log) => (log.bytes === null ? null : Buffer.from(log.bytes.slice(2), 'hex'))),
      of((log) => log.fault),
    ],
  );
}

/** Removes what stands above a block; answers the tokens that lost something. */
export async function removeLogsAbove(tx: Tx, chainId: number, block: bigint): Promise<bigint[]> {
  const rows = await tx.query<{ tokenId: string }>(
    'remove-registry-logs',
    `with gone as (delete from registry_log where chain_id = $1 and block_number > $2 returning token_id)
     select distinct token_id as "tokenId" from gone`,
    [chainId, block],
  );
  return rows.map(({ tokenId }) => BigInt(tokenId));
}

/** All logs of tokens, in the order of the chain. */
export async function listLogsOf(tx: Tx, chainId: number, tokenIds: readonly bigint[]): Promise<RegistryLog[]> {
  const rows = await tx.query<Omit<RegistryLog, 'tokenId'> & { tokenId: string }>(
    'list-registry-logs',
    `select token_id as "tokenId", block_number as block, log_index as index, transaction_hash as "transactionHash",
            kind, value, '0x' || encode(bytes, 'hex') as bytes, fault
       from registry_log where chain_id = $1 and token_id = any($2::numeric[]) order by block_number, log_index`,
    [chainId, tokenIds],
  );
  return rows.map((row) => ({ ...row, tokenId: BigInt(row.tokenId) }));
}
