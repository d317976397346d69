import { type AssetKey, tokenKey } from '../../../../chain/chain-info.ts';
import type { Sql, Tx } from '../../../../store/sql.ts';

/** A channel as far as claims and losses of it are booked. */
export interface BookedChannel {
  readonly id: string;
  readonly balanceMicro: bigint;
  readonly claimedMicro: bigint;
  readonly chargedMicro: bigint;
  readonly reservedMicro: bigint;
  readonly lostMicro: bigint;
  readonly booking: number;
}

/** The booked state of the node's wallet as receiver of all channels, and the block of the last booking. */
export interface BookedReceiver {
  /** Claimed for it by the node's channels. */
  readonly knownMicro: bigint;
  /** Claimed for it by channels that the node does not know. */
  readonly foreignMicro: bigint;
  readonly settledMicro: bigint;
  readonly booking: number;
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

const receiverColumns = `known_micro as "knownMicro", foreign_micro as "foreignMicro", settled_micro as "settledMicro", booking,
  block_number as "blockNumber", block_hash as "blockHash"`;

type ReceiverKey = AssetKey & { readonly wallet: string };

const keyOf = ({ wallet, ...asset }: ReceiverKey) => [asset.chainId, tokenKey(asset), wallet];

export async function findReceiver(sql: Sql, receiver: ReceiverKey): Promise<BookedReceiver | null> {
  const [row] = await sql.query<BookedReceiver>(
    'find-channel-receiver',
    `select ${receiverColumns} from channel_receiver where chain_id = $1 and token = $2 and receiver = $3`,
    keyOf(receiver),
  );
  return row ?? null;
}

/** Starts the books of a receiver, if there are none yet. Earlier sweeps belong to the operator. */
export async function beginReceiver(
  sql: Sql,
  receiver: ReceiverKey,
  at: { settledMicro: bigint; blockNumber: bigint; blockHash: string },
): Promise<void> {
  await sql.query(
    'begin-channel-receiver',
    `insert into channel_receiver (chain_id, token, receiver, foreign_micro, settled_micro, block_number, block_hash)
     values ($1, $2, $3, $4, $4, $5, $6) on conflict do nothing`,
    [...keyOf(receiver), at.settledMicro, at.blockNumber, at.blockHash],
  );
}

/** Locks the books of a receiver until the transaction ends: bookings come one after the other. */
export async function lockReceiver(tx: Tx, receiver: ReceiverKey): Promise<BookedReceiver | null> {
  const [row] = await tx.query<BookedReceiver>(
    'lock-channel-receiver',
    `select ${receiverColumns} from channel_receiver where chain_id = $1 and token = $2 and receiver = $3 for update`,
    keyOf(receiver),
  );
  return row ?? null;
}

/** Claimed for a receiver and not swept, as booked; 0 while a claim is open, which may sweep it. */
export async function sumUnswept(sql: Sql, receiver: ReceiverKey): Promise<bigint> {
  const [row] = await sql.query<{ micro: bigint }>(
    'sum-unswept',
    `select known_micro + foreign_micro - settled_micro as micro from channel_receiver
      where chain_id = $1 and token = $2 and receiver = $3
        and not exists (select from channel_claim where chain_id = $1 and token = $2 and state = 'sent')`,
    keyOf(receiver),
  );
  return row?.micro ?? 0n;
}

export async function writeReceiver(tx: Tx, receiver: ReceiverKey, to: BookedReceiver): Promise<void> {
  await tx.query(
    'write-channel-receiver',
    `update channel_receiver set foreign_micro = $4, settled_micro = $5, booking = $6, block_number = $7, block_hash = $8,
            known_micro = $9
      where chain_id = $1 and token = $2 and receiver = $3`,
    [...keyOf(receiver), to.foreignMicro, to.settledMicro, to.booking, to.blockNumber, to.blockHash, to.knownMicro],
  );
}

const channelColumns = `id, balance_micro as "balanceMicro", claimed_micro as "claimedMicro", charged_micro as "chargedMicro",
  reserved_micro as "reservedMicro", lost_micro as "lostMicro", booking`;

/** Locks channels, in id order, until the transaction ends. */
export const lockBooked = (tx: Tx, ids: readonly string[]): Promise<BookedChannel[]> =>
  tx.query<BookedChannel>(
    'lock-booked-channels',
    `select ${channelColumns} from channel where id = any($1) order by id for no key update`,
    [ids],
  );

/** Sum of these channels that is booked as claimed. */
export async function sumClaimed(sql: Sql, ids: readonly string[]): Promise<bigint> {
  const [row] = await sql.query<{ micro: bigint }>(
    'sum-claimed-of-channels',
    'select coalesce(sum(claimed_micro), 0)::bigint as micro from channel where id = any($1)',
    [ids],
  );
  return row?.micro ?? 0n;
}

/** Records claims and losses of channels that the caller has locked. */
export async function writeBooked(
  tx: Tx,
  channels: readonly Pick<BookedChannel, 'id' | 'claimedMicro' | 'lostMicro' | 'booking'>[],
  now: Date,
): Promise<void> {
  if (channels.length === 0) return;
  await tx.query(
    'write-booked-channels',
    `update channel c set claimed_micro = n.claimed, lost_micro = n.lost, booking = n.booking, changed_at = $5
       from unnest($1::text[], $2::bigint[], $3::bigint[], $4::integer[]) as n(id, claimed, lost, booking) where c.id = n.id`,
    [
      channels.map((c) => c.id),
      channels.map((c) => c.claimedMicro),
      channels.map((c) => c.lostMicro),
      channels.map((c) => c.booking),
      now,
    ],
  );
}

/** Channels with a booked loss that differs from balance and charges: charged beyond the balance, or a balance that came back. */
export async function listLossy(sql: Sql, { chainId, token }: AssetKey): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-lossy-channels',
    `select id from channel
      where chain_id = $1 and token = $2 and is_lossy
        and lost_micro <> greatest(0, charged_micro - greatest(balance_micro, claimed_micro)) limit 1000`,
    [chainId, token],
  );
  return rows.map(({ id }) => id);
}

/** Channels of which more was claimed than the books have charged. */
export const listOverclaimed = (sql: Sql, { chainId, token }: AssetKey): Promise<BookedChannel[]> =>
  sql.query<BookedChannel>(
    'list-overclaimed-channels',
    `select ${channelColumns} from channel
      where chain_id = $1 and token = $2 and is_under_way and claimed_micro > charged_micro + reserved_micro order by id limit 1000`,
    [chainId, token],
  );

/** The next channels to a wallet by id of which more is charged than booked as claimed or lost. */
export const listOwingAfter = (
  sql: Sql,
  { chainId, token, wallet }: ReceiverKey,
  after: string,
  most: number,
): Promise<BookedChannel[]> =>
  sql.query<BookedChannel>(
    'list-owing-channels',
    `select ${channelColumns} from channel
      where chain_id = $1 and token = $5 and owes and id > $2 and receiver = $4 order by id limit $3`,
    [chainId, after, most, wallet, token],
  );

/** The next channels to a wallet by id, with the booked amounts of their claims. */
export const listBookedAfter = (
  sql: Sql,
  { chainId, token, wallet }: ReceiverKey,
  after: string,
  most: number,
): Promise<BookedChannel[]> =>
  sql.query<BookedChannel>(
    'list-booked-channels',
    `select ${channelColumns} from channel
      where chain_id = $1 and token = $5 and id > $2 and receiver = $4 order by id limit $3`,
    [chainId, after, most, wallet, token],
  );

/**
 * Raises the charges of a locked channel for calls with vouchers that the database has lost. Only the sum of the highest one is known, and
 * it is public. Returns the payer.
 */
export async function chargeLost(tx: Tx, id: string, lostMicro: bigint, now: Date): Promise<string> {
  const [row] = await tx.query<{ payer: string }>(
    'charge-lost-vouchers',
    `update channel
        set charged_micro = charged_micro + $2, changed_at = $3,
            signed_micro = greatest(signed_micro, charged_micro + reserved_micro + $2),
            signature = case when signed_micro >= charged_micro + reserved_micro + $2 then signature end,
            published_micro = greatest(published_micro, charged_micro + $2)
      where id = $1 returning payer`,
    [id, lostMicro, now],
  );
  if (!row) throw new Error(`channel ${id} is locked and gone`);
  return row.payer;
}
