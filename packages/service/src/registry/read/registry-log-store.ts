import type { Sql, Tx } from '../../store/sql.ts';
import type { RegistryLog } from './registry-logs.ts';

/** Inserts any number of logs in one statement, each once. Returns the tokens of those that were new. */
export async function insertLogs(tx: Tx, chainId: number, logs: readonly RegistryLog[]): Promise<bigint[]> {
  if (logs.length === 0) return [];
  const of = <T>(pick: (log: RegistryLog) => T): T[] => logs.map(pick);
  const rows = await tx.query<{ tokenId: string }>(
    'insert-registry-logs',
    `insert into registry_log
        (chain_id, block_number, log_index, transaction_hash, token_id, kind, value, bytes, fault)
     select $1, * from unnest($2::bigint[], $3::integer[], $4::text[], $5::numeric[], $6::text[], $7::text[], $8::bytea[], $9::text[])
     on conflict do nothing returning token_id as "tokenId"`,
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
  return [...new Set(rows.map(({ tokenId }) => BigInt(tokenId)))];
}

/** Removes logs above a block; returns the tokens that lost logs. */
export async function removeLogsAbove(tx: Tx, chainId: number, block: bigint): Promise<bigint[]> {
  const rows = await tx.query<{ tokenId: string }>(
    'remove-registry-logs',
    `with gone as (delete from registry_log where chain_id = $1 and block_number > $2 returning token_id)
     select distinct token_id as "tokenId" from gone`,
    [chainId, block],
  );
  return rows.map(({ tokenId }) => BigInt(tokenId));
}

/** All logs of these tokens, in chain order. */
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

/** The first log of a URI, and the key that wrote it: the registrant, or for a later URI the token's holder at that time. */
export interface FirstNaming {
  readonly uri: string;
  readonly by: string;
}

/** The first log on the chain with an http(s) URI that ends like this; `ending` has the 56 characters that are indexed. */
export async function findFirstNaming(sql: Sql, chainId: number, ending: string): Promise<FirstNaming | null> {
  const [row] = await sql.query<FirstNaming>(
    'find-first-naming',
    `select l.value as uri, (
        select o.value from registry_log o
         where (o.chain_id, o.token_id) = (l.chain_id, l.token_id) and o.kind = 'owner'
           and (o.block_number, o.log_index) < (l.block_number, l.log_index)
         order by case l.kind when 'registered' then o.block_number else -o.block_number end,
                  case l.kind when 'registered' then o.log_index else -o.log_index end limit 1) as by
       from registry_log l
      where l.chain_id = $1 and right(l.value, 56) = $2 and l.kind in ('registered', 'uri')
        and l.value like '%/registration.json' and l.value like 'http%'
      order by l.block_number, l.log_index limit 1`,
    [chainId, ending],
  );
  return row ?? null;
}
