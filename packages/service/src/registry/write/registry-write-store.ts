import { newId } from '../../lib/id.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import type { NewWrite, RegistryWrite, WriteKind, WriteState } from './registry-write.ts';

const columns = `w.id, w.kind, w.subject_id as "subjectId", w.target, w.data, w.gas, w.token_id::text as "tokenId", w.uri, w.state,
  w.transaction_hash as "transactionHash", w.place, w.tries, w.block_number as "blockNumber"`;

/** Queues a write, unless it is queued already. */
export async function insertWrite(sql: Sql, chainId: number, write: NewWrite, now: Date): Promise<void> {
  // Checked before inserting: a conflicting insert would wait for the transaction that is ending the same write.
  await sql.query(
    'insert-registry-write',
    `insert into registry_write (id, chain_id, kind, subject_id, target, data, gas, token_id, uri, state, created_at)
     select $1, $2::integer, $3, $4, $5, $6, $7::bigint, $8::numeric, $9, 'due', $10::timestamptz
      where not exists (select from registry_write where chain_id = $2 and kind = $3 and subject_id = $4
                           and (state in ('due', 'sent') or state = 'done' and kind <> 'uri'))
     on conflict do nothing`,
    [
      newId('rgw'),
      chainId,
      write.kind,
      write.subjectId,
      write.target,
      write.data,
      write.gas,
      write.tokenId,
      write.uri,
      now,
    ],
  );
}

/** The newest write of a kind for a subject; null when there is none. */
export async function findWrite(
  sql: Sql,
  chainId: number,
  kinds: readonly WriteKind[],
  subjectId: string,
): Promise<RegistryWrite | null> {
  const rows = await sql.query<RegistryWrite>(
    'find-registry-write',
    `select ${columns} from registry_write w where chain_id = $1 and kind = any($2) and subject_id = $3
      order by (state <> 'failed') desc, created_at desc, id desc limit 1`,
    [chainId, kinds, subjectId],
  );
  return rows[0] ?? null;
}

/** True if a write of this kind and URI for a subject has failed after a time. */
export async function isFailedAfter(
  sql: Sql,
  chainId: number,
  { kind, subjectId, uri }: Pick<NewWrite, 'kind' | 'subjectId' | 'uri'>,
  after: Date,
): Promise<boolean> {
  const rows = await sql.query(
    'is-registry-write-failed',
    `select from registry_write where chain_id = $1 and kind = $2 and subject_id = $3 and uri = $4
        and state = 'failed' and ended_at > $5 limit 1`,
    [chainId, kind, subjectId, uri, after],
  );
  return rows.length > 0;
}

/** Drops a write that has not been sent. */
export async function dropDueWrite(
  sql: Sql,
  chainId: number,
  { kind, subjectId, failure, now }: Pick<NewWrite, 'kind' | 'subjectId'> & { failure: string; now: Date },
): Promise<void> {
  await sql.query(
    'drop-due-registry-write',
    `update registry_write set state = 'failed', failure = $4, ended_at = $5
      where chain_id = $1 and kind = $2 and subject_id = $3 and state = 'due'`,
    [chainId, kind, subjectId, failure, now],
  );
}

export const HAS_OPEN_WRITES = `(select id from registry_write where state in ('due', 'sent') order by created_at, id limit 1) is not null`;

/** Counts due writes, up to `most`. */
export async function countDueWrites(sql: Sql, chainId: number, most: number): Promise<number> {
  const [row] = await sql.query<{ due: number }>(
    'count-due-registry-writes',
    `select count(*)::int as due from (select from registry_write where chain_id = $1 and state = 'due' limit $2) each_due`,
    [chainId, most],
  );
  return row?.due ?? 0;
}

/**
 * Locks due writes, oldest first, until the transaction ends. Feedback comes after all others: whom it is about can have every one of it
 * refused.
 */
export const lockDueWrites = (sql: Sql, chainId: number, limit: number): Promise<RegistryWrite[]> =>
  sql.query<RegistryWrite>(
    'lock-due-registry-writes',
    `select ${columns} from registry_write w
      where state = 'due' and id in (select id from registry_write where chain_id = $1 and state = 'due'
        order by kind = 'feedback', created_at, id limit $2)
      order by kind = 'feedback', created_at, id for update skip locked`,
    [chainId, limit],
  );

/** Records the transaction that contains these calls, in this order. */
export async function markSent(tx: Tx, ids: readonly string[], transactionHash: string): Promise<void> {
  await tx.query(
    'mark-registry-writes-sent',
    `update registry_write w set state = 'sent', transaction_hash = $2, place = n.place - 1
       from unnest($1::text[]) with ordinality as n(id, place) where w.id = n.id and w.state = 'due'`,
    [ids, transactionHash],
  );
}

/** Sent writes with a transaction that is not known to be mined, by transaction. */
export const listSentWrites = (sql: Sql, chainId: number, limit: number): Promise<RegistryWrite[]> =>
  sql.query<RegistryWrite>(
    'list-sent-registry-writes',
    `select ${columns} from registry_write w where chain_id = $1 and state = 'sent' order by transaction_hash, place limit $2`,
    [chainId, limit],
  );

export interface WriteEnd {
  readonly id: string;
  /** The transaction with this outcome. */
  readonly carriedBy: string;
  readonly state: WriteState;
  readonly transactionHash: string | null;
  readonly tokenId: string | null;
  readonly blockNumber: bigint | null;
  readonly blockHash: string | null;
  readonly failure: string | null;
}

/**
 * Records the outcomes of sent writes; returns those that were still sent in the same transaction: another process may have recorded its
 * outcome and sent a write again since.
 */
export const endWrites = (tx: Tx, ends: readonly WriteEnd[], now: Date): Promise<RegistryWrite[]> =>
  tx.query<RegistryWrite>(
    'end-registry-writes',
    `update registry_write w
        set state = e.state, transaction_hash = e.hash, token_id = coalesce(e.token_id, w.token_id), block_number = e.block,
            block_hash = e.block_hash, failure = e.failure, tries = w.tries + (e.failure is not null)::int,
            ended_at = case when e.state in ('done', 'failed') then $8::timestamptz end
       from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::bigint[], $6::text[], $7::text[], $9::text[])
         as e(id, state, hash, token_id, block, block_hash, failure, carried_by)
      where w.id = e.id and w.state = 'sent' and w.transaction_hash = e.carried_by
     returning ${columns}`,
    [
      ends.map((e) => e.id),
      ends.map((e) => e.state),
      ends.map((e) => e.transactionHash),
      ends.map((e) => e.tokenId),
      ends.map((e) => e.blockNumber),
      ends.map((e) => e.blockHash),
      ends.map((e) => e.failure),
      now,
      ends.map((e) => e.carriedBy),
    ],
  );

/** Reopens writes that were done in a block which no longer contains them. */
export const reopenWrites = (tx: Tx, chainId: number, fromBlock: bigint): Promise<RegistryWrite[]> =>
  tx.query<RegistryWrite>(
    'reopen-registry-writes',
    `update registry_write w set state = 'sent', block_number = null, block_hash = null, ended_at = null
       from chain_transaction t
      where w.chain_id = $1 and w.state = 'done' and w.block_number >= $2 and t.hash = w.transaction_hash
        and t.block_hash is distinct from w.block_hash
     returning ${columns}`,
    [chainId, fromBlock],
  );
