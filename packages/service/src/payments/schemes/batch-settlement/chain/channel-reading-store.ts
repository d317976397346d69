import { pointStore } from '../../../../chain/blocks/point-store.ts';
import { type AssetKey, tokenKey } from '../../../../chain/chain-info.ts';
import type { Sql, Tx } from '../../../../store/sql.ts';

/** State of a channel on the chain; see the table `channel`. */
export interface ChannelReading {
  readonly id: string;
  readonly balanceMicro: bigint;
  readonly refundNonce: bigint;
  readonly withdrawRequestedAt: Date | null;
  /** The channel has to be read again at this block; null: after its next event. */
  readonly dueBlock: bigint | null;
}

/**
 * Writes readings of a block, in the order of the ids, unless a channel has a reading of a later block. Returns the channels with a payer
 * who has begun to withdraw since the reading before.
 */
export async function writeReadings(
  tx: Tx,
  block: bigint,
  readings: readonly ChannelReading[],
  now: Date,
): Promise<string[]> {
  if (readings.length === 0) return [];
  const of = <T>(pick: (reading: ChannelReading) => T) => readings.map(pick);
  const rows = await tx.query<{ id: string }>(
    'write-channel-readings',
    `with before as (
       select id, withdraw_requested_at from channel where id = any($1) order by id for no key update
     )
     update channel c
        set balance_micro = n.balance, refund_nonce = n.refund_nonce, withdraw_requested_at = n.withdraw_requested_at,
            read_block = $6, due_block = n.due_block, checked_at = $7, changed_at = $7
       from unnest($1::text[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::bigint[])
         as n(id, balance, refund_nonce, withdraw_requested_at, due_block), before
      where c.id = n.id and before.id = n.id and c.read_block <= $6
      returning case when before.withdraw_requested_at is null and c.withdraw_requested_at is not null then c.id end as id`,
    [
      of((r) => r.id),
      of((r) => r.balanceMicro),
      of((r) => r.refundNonce),
      of((r) => r.withdrawRequestedAt),
      of((r) => r.dueBlock),
      block,
      now,
    ],
  );
  return rows.flatMap(({ id }) => (id === null ? [] : [id]));
}

/** True if the channel was read at or after a block. */
export async function wasReadAt(sql: Sql, channelId: string, block: bigint): Promise<boolean> {
  const rows = await sql.query('was-channel-read-at', 'select id from channel where id = $1 and read_block >= $2', [
    channelId,
    block,
  ]);
  return rows.length > 0;
}

/** True when the channel was read at a block that has this settled deposit so deep; false also while a reorg has taken the deposit back. */
export async function wasReadSince(
  sql: Sql,
  channelId: string,
  { paymentId, depth }: { readonly paymentId: string; readonly depth: bigint },
): Promise<boolean> {
  const rows = await sql.query(
    'was-channel-read-since',
    `select c.id from channel c join chain_payment p on p.id = $2
      where c.id = $1 and p.lost_at is null and c.read_block >= coalesce(p.block_number, 0) + $3 - 1`,
    [channelId, paymentId, depth],
  );
  return rows.length > 0;
}

/** The given ids of which the node has channels in an asset. */
export async function knownChannelsIn(
  sql: Sql,
  { chainId, token }: AssetKey,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'known-channels-in',
    'select id from channel where id = any($1) and chain_id = $2 and token = $3',
    [ids, chainId, token],
  );
  return rows.map(({ id }) => id);
}

/** The given ids of which the node has channels, in any asset. */
export async function knownChannels(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>('known-channels', 'select id from channel where id = any($1)', [ids]);
  return rows.map(({ id }) => id);
}

/** Channels to read regardless of events: those due at a block, and those read after the last block with read events. */
export async function dueChannels(
  sql: Sql,
  asset: AssetKey,
  at: { readonly block: bigint; readonly readUpTo: bigint },
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'due-channels',
    'select id from channel where chain_id = $1 and token = $4 and (due_block <= $2 or read_block > $3)',
    [asset.chainId, at.block, at.readUpTo, asset.token],
  );
  return rows.map(({ id }) => id);
}

/** Channels last read at least `blocks` blocks before the last block with read events, oldest reading first. */
export async function channelsReadLongAgo(
  sql: Sql,
  asset: AssetKey,
  { blocks, most }: { readonly blocks: bigint; readonly most: number },
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'channels-read-long-ago',
    `select id from channel where chain_id = $1 and token = $4 and read_block between 1 and
       (select max(block_number) from channel_point where chain_id = $1 and token = $5) - $2::bigint
      order by read_block limit $3`,
    [asset.chainId, blocks, most, asset.token, tokenKey(asset)],
  );
  return rows.map(({ id }) => id);
}

/**
 * Channels that owe at least this amount, running calls included, and were not read for an eighth of their payer's delay; largest debt
 * first.
 */
export async function channelsOwingUnread(
  sql: Sql,
  asset: AssetKey,
  { owedMicro, now, most }: { readonly owedMicro: bigint; readonly now: Date; readonly most: number },
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'channels-owing-unread',
    `select id from channel
      where chain_id = $1 and token = $5 and is_under_way and charged_micro + reserved_micro - claimed_micro >= $4
        and (checked_at is null or checked_at + withdraw_delay_s * interval '0.125 s' <= $2)
      order by charged_micro + reserved_micro - claimed_micro desc limit $3`,
    [asset.chainId, now, most, owedMicro, asset.token],
  );
  return rows.map(({ id }) => id);
}

export const HAS_CHANNELS = 'exists (select from channel where chain_id = given.chain_id)';

export async function hasChannels(sql: Sql, { chainId, token }: AssetKey): Promise<boolean> {
  const rows = await sql.query('has-channels', 'select id from channel where chain_id = $1 and token = $2 limit 1', [
    chainId,
    token,
  ]);
  return rows.length > 0;
}

/** Makes all channels due that were read after a block; `null`: all. A lower block may be written to them then. */
export async function makeDue(sql: Sql, { chainId, token }: AssetKey, afterBlock: bigint | null): Promise<void> {
  await sql.query(
    'make-channels-due',
    `update channel set due_block = 0, read_block = least(read_block, coalesce($2::bigint, read_block))
      where id in (select id from channel where chain_id = $1 and token = $3 and ($2::bigint is null or read_block > $2)
        order by id for no key update)`,
    [chainId, afterBlock, token],
  );
}

/** Up to where events of the settlement contract were read. */
export const channelPoints = pointStore('channel_point');

/** True if a channel holds this much by the books. */
export async function isBalanceAtLeast(sql: Sql, id: string, micro: bigint): Promise<boolean> {
  const rows = await sql.query('is-channel-balance', 'select 1 from channel where id = $1 and balance_micro >= $2', [
    id,
    micro,
  ]);
  return rows.length > 0;
}

/** Locks a channel until the transaction ends; answers its balance by the books. Before accounts of the ledger. */
export async function lockBalance(tx: Tx, id: string): Promise<bigint> {
  const [row] = await tx.query<{ micro: bigint }>(
    'lock-channel-balance',
    'select balance_micro as micro from channel where id = $1 for no key update',
    [id],
  );
  return row?.micro ?? 0n;
}
