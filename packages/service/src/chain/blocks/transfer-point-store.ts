import type { Sql } from '../../store/sql.ts';
import { type AssetKey, tokenKey } from '../chain-info.ts';
import type { IncomingTransfer } from '../incoming-transfer-client.ts';
import { pointStore } from './point-store.ts';

/** Up to where incoming transfers were read. */
export const transferPoints = pointStore('transfer_point');

/** Deletes every point above a block and the uncredited transfers seen there; those blocks will be read again. */
export async function goBackToPoint(sql: Sql, asset: AssetKey, block: bigint): Promise<void> {
  await transferPoints.goBack(sql, asset, block);
  await sql.query(
    'unsee-transfers',
    'delete from unshown_transfer where chain_id = $1 and token = $2 and block_number > $3',
    [asset.chainId, tokenKey(asset), block],
  );
}

const transferColumns = `from_address as "from", nonce, value_micro as "valueMicro", transaction_hash as "transactionHash",
  block_number as "blockNumber", block_hash as "blockHash"`;

/**
 * Ends a correlated subquery that is to be run for each row, by the whole of its index. As a join, a plan that was made while the tables were
 * small compares every transfer with every payment of the token: quadratic in the transfers that a stranger puts into one block.
 */
const EACH_BY_INDEX = 'offset 0';

/** A transfer with its unique key: the nonce of its authorization, or for a plain transfer one from its position on chain. */
export type StoredTransfer = Omit<IncomingTransfer, 'nonce' | 'ordinal'> & { readonly nonce: string };

/** `isPlain`: there is no authorization to present, so it may be credited at once. */
export type SeenTransfer = StoredTransfer & { readonly isPlain: boolean };

/** Before every time: nothing is waited for. */
const AT_ONCE = new Date(0);

/**
 * Stores transfers until they are booked: the authorization of one may not have been shown to us yet, or its payment may still be open and be
 * taken for failed. Those that are booked or stored already are left out: blocks are read more than once.
 */
export async function insertUnshown(
  sql: Sql,
  { chainId, token, now }: AssetKey & { now: Date },
  transfers: readonly SeenTransfer[],
): Promise<void> {
  const of = <T>(pick: (t: SeenTransfer) => T) => transfers.map(pick);
  await sql.query(
    'insert-unshown-transfers',
    `insert into unshown_transfer
        (chain_id, token, from_address, nonce, value_micro, transaction_hash, block_number, block_hash, seen_at)
     select $1, $10, t.from_address, t.nonce, t.value, t.hash, t.block, t.block_hash, t.seen_at
       from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[], $9::timestamptz[])
         as t(from_address, nonce, value, hash, block, block_hash, seen_at)
      where not exists (select from chain_payment p
        where p.chain_id = $1 and p.token = $2 and p.from_address = t.from_address and p.nonce = t.nonce
          and p.value_micro = t.value and p.direction = 'in' and p.state = 'settled' ${EACH_BY_INDEX})
     on conflict do nothing`,
    [
      chainId,
      token,
      of((t) => t.from),
      of((t) => t.nonce),
      of((t) => t.valueMicro),
      of((t) => t.transactionHash),
      of((t) => t.blockNumber),
      of((t) => t.blockHash),
      of((t) => (t.isPlain ? AT_ONCE : now)),
      tokenKey({ chainId, token }),
    ],
  );
}

export const HAS_UNSHOWN_TRANSFERS = 'exists (select from unshown_transfer)';

/** Deletes the stored transfers of payments that have settled. */
export async function forgetBooked(sql: Sql, asset: AssetKey): Promise<void> {
  await sql.query(
    'forget-booked-transfers',
    `delete from unshown_transfer u where u.chain_id = $1 and u.token = $2 and exists (select from chain_payment p
        where p.chain_id = u.chain_id and p.token = $3 and p.from_address = u.from_address and p.nonce = u.nonce
          and p.value_micro = u.value_micro and p.direction = 'in' and p.state = 'settled' ${EACH_BY_INDEX})`,
    [asset.chainId, tokenKey(asset), asset.token],
  );
}

/**
 * Takes transfers seen before a time that no request waits for, for the caller's transaction to credit. Skips those of this node's
 * payments, which settlement or late booking handles.
 */
export const takeUnshown = (
  sql: Sql,
  { before, limit, ...asset }: AssetKey & { before: Date; limit: number },
): Promise<StoredTransfer[]> =>
  sql.query<StoredTransfer>(
    'take-unshown-transfers',
    `delete from unshown_transfer where (chain_id, token, from_address, nonce) in (
       select u.chain_id, u.token, u.from_address, u.nonce from unshown_transfer u
        where u.chain_id = $1 and u.token = $4 and u.seen_at <= $2 and not exists (select from awaited_refund a
          where a.chain_id = u.chain_id and a.token = u.token and a.from_address = u.from_address and a.nonce = u.nonce
            ${EACH_BY_INDEX})
          and not exists (select from chain_payment p
            where p.chain_id = u.chain_id and p.token = $5 and p.from_address = u.from_address and p.nonce = u.nonce
              and p.value_micro = u.value_micro and p.direction = 'in' and p.state in ('claimed', 'broadcasting', 'failed')
            ${EACH_BY_INDEX})
        order by u.seen_at limit $3 for update skip locked)
     returning ${transferColumns}`,
    [asset.chainId, before, limit, tokenKey(asset), asset.token],
  );

/** A transfer with a payment recorded as failed: anyone can submit an authorization until it expires. */
export interface LateTransfer {
  readonly paymentId: string;
  readonly from: string;
  readonly nonce: string;
  readonly valueMicro: bigint;
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

export const listLate = (sql: Sql, asset: AssetKey, limit: number): Promise<LateTransfer[]> =>
  sql.query<LateTransfer>(
    'list-late-transfers',
    `select p.id as "paymentId", u.from_address as "from", u.nonce, u.value_micro as "valueMicro", u.block_number as "blockNumber",
            u.block_hash as "blockHash"
       from unshown_transfer u cross join lateral (select id from chain_payment p
         where p.chain_id = u.chain_id and p.token = $4 and p.from_address = u.from_address and p.nonce = u.nonce
           and p.value_micro = u.value_micro and p.direction = 'in' and p.state = 'failed' ${EACH_BY_INDEX}) p
      where u.chain_id = $1 and u.token = $3
      order by u.seen_at limit $2`,
    [asset.chainId, limit, tokenKey(asset), asset.token],
  );

/** Takes a transfer for the caller's transaction to book; null when another process has taken it. */
export async function takeTransfer(
  sql: Sql,
  asset: AssetKey,
  { from, nonce }: { from: string; nonce: string },
): Promise<StoredTransfer | null> {
  const rows = await sql.query<StoredTransfer>(
    'take-transfer',
    `delete from unshown_transfer where chain_id = $1 and token = $4 and from_address = $2 and nonce = $3
     returning ${transferColumns}`,
    [asset.chainId, from, nonce, tokenKey(asset)],
  );
  return rows[0] ?? null;
}
