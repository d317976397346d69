import { type AssetKey, type ChainInfo, tokenKey } from '../../chain/chain-info.ts';
import type { Authorization } from '../../chain/keys/authorization.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import type { ChainDirection } from '../chain-outbox/chain-payment.ts';
import { isValidAt } from '../chain-outbox/chain-payment-list-store.ts';
import type { LedgerAsset } from '../ledger/asset-account.ts';
import type { LedgerAccountKind } from '../ledger/ledger-store.ts';
import { sumByKind } from '../ledger/ledger-total-store.ts';
import { WATCHED_BLOCKS } from '../reconcile/watch-reorgs.ts';
import type { ChannelBooks, ReceiverBooks } from './channel-reserves.ts';
import type { DriftEpisode } from './reserves.ts';

/** Deposits into channels do not pass the wallet. */
type WalletDirection = Exclude<ChainDirection, 'channel'>;

/** A payment on which chain and books may differ. */
export type PaymentUnderWay = Authorization & {
  readonly direction: WalletDirection;
  /** `failed`: anybody may still submit it. `lost`: it is booked, but a reorg removed its block. */
  readonly standing: 'open' | 'failed' | 'lost';
};

export interface Books {
  readonly sums: ReadonlyMap<LedgerAccountKind, bigint>;
  readonly bookedAfterBlockMicro: bigint;
  readonly underWay: readonly PaymentUnderWay[];
  /** Sum of transfers by authorizations without a booked or open payment; credited after a delay. */
  readonly unshownMicro: bigint;
  /** Last block with incoming transfers that were read; null: none. */
  readonly readUpTo: bigint | null;
  /** Channels of which the chain may say something else than the books. */
  readonly channels: readonly ChannelBooks[];
  /** Owed by all others, any number: as much by the chain as by the books. */
  readonly quietMicro: bigint;
  readonly receiver: ReceiverBooks;
}

/** SQL condition: the payment is booked, or open in the books, and so accounts for its transfer. */
const accountsFor = (nowS: string) =>
  `(p.direction = 'in' and (p.state in ('claimed', 'broadcasting', 'settled') or (p.state = 'failed' and p.valid_before > ${nowS})))`;

/** Block and time for which the books are read, and the amount from which on a claim is worth its gas. */
export interface BooksAt {
  readonly block: bigint;
  readonly nowS: number;
  readonly minMicro: bigint;
}

/** Reads the books for a comparison with the chain at a block. It is one snapshot only in a `repeatable read` transaction. */
export async function readBooks(
  tx: Tx,
  { chainId, token, wallet, ledgerAsset }: Pick<ChainInfo, 'chainId' | 'token' | 'wallet' | 'ledgerAsset'>,
  at: BooksAt,
): Promise<Books> {
  const { block, nowS } = at;
  const sums = await sumByKind(tx, ledgerAsset);
  const [row] = await tx.query<Pick<Books, 'bookedAfterBlockMicro' | 'unshownMicro' | 'readUpTo'>>(
    'read-books',
    `select (select coalesce(sum(case direction when 'in' then value_micro when 'out' then -value_micro end), 0)::bigint from chain_payment
              where chain_id = $1 and token = $4 and block_hash is not null and block_number > $2 and state = 'settled' and lost_at is null) as "bookedAfterBlockMicro",
            (select coalesce(sum(value_micro), 0)::bigint from unshown_transfer u
              where u.chain_id = $1 and u.token = $5 and u.block_number <= $2 and not exists (select from chain_payment p
                where p.chain_id = u.chain_id and p.token = $4 and p.from_address = u.from_address and p.nonce = u.nonce
                  and p.value_micro = u.value_micro and ${accountsFor('$3')})) as "unshownMicro",
            (select max(block_number) from transfer_point where chain_id = $1 and token = $5) as "readUpTo"`,
    [chainId, block, nowS, token, tokenKey({ chainId, token })],
  );
  const underWay = await tx.query<PaymentUnderWay>(
    'list-under-way',
    `select from_address as from, to_address as to, nonce, value_micro as "valueMicro", valid_after as "validAfterS",
            valid_before as "validBeforeS", direction, 'open' as standing
       from chain_payment where chain_id = $1 and token = $3 and state in ('claimed', 'broadcasting') and direction <> 'channel'
     union all
     select from_address, to_address, nonce, value_micro, valid_after, valid_before, direction, 'failed'
       from chain_payment where chain_id = $1 and token = $3 and state = 'failed' and direction = 'in' and ${isValidAt('$2')}
     union all
     select from_address, to_address, nonce, value_micro, valid_after, valid_before, direction, 'lost'
       from chain_payment where chain_id = $1 and token = $3 and state = 'settled' and lost_at is not null and direction <> 'channel'`,
    [chainId, nowS, token],
  );
  const channels = await readChannelBooks(tx, { chainId, token, wallet }, at);
  return { ...(row as NonNullable<typeof row>), sums, underWay, ...channels };
}

/**
 * SQL condition: the channel owes less than a claim is worth, and chain and books agree on it. It was read in a final block, had no event
 * since (events are read up to a block as young), and holds its debt, which only a withdrawal could change, after its delay. A missed event
 * shows at the daily reading, a claim by others in the wallet's total.
 */
const isQuiet = `(c.charged_micro - c.claimed_micro < $5 and c.reserved_micro = 0 and c.charged_micro <= c.balance_micro
    and c.receiver = $3 and c.read_block between 1 and $2 and c.due_block is null and c.refund_id is null and c.lost_micro = 0
    and (c.withdraw_requested_at is null or c.withdraw_requested_at + c.withdraw_delay_s * interval '0.5 s' > to_timestamp($4))
    and exists (select from channel_point p where p.chain_id = $1 and p.token = $7 and p.block_number >= $2))`;

const claimedLately = `select r.channel_id from channel_claim k join channel_claim_row r on r.claim_id = k.id
    where k.chain_id = $1 and k.token = $7 and (k.state = 'sent' or k.state = 'done' and k.block_number >= $2)`;

/** Channels that owe something or have claims that a reorg may still move. */
async function readChannelBooks(
  tx: Tx,
  { chainId, token, wallet }: AssetKey & Pick<ChainInfo, 'wallet'>,
  { block, nowS, minMicro }: BooksAt,
): Promise<Pick<Books, 'channels' | 'quietMicro' | 'receiver'>> {
  const key = tokenKey({ chainId, token });
  const params = [chainId, block - WATCHED_BLOCKS, wallet, nowS, minMicro, token, key] as const;
  const channels = await tx.query<ChannelBooks>(
    'read-channel-books',
    `with recent as (
       ${claimedLately}
       union
       select c.id from channel c where c.chain_id = $1 and c.token = $6 and c.is_under_way and not ${isQuiet}
     )
     select c.id, c.receiver = $3 as "isToWallet", c.charged_micro + c.reserved_micro as "dueMicro", c.claimed_micro as "claimedMicro",
            (select coalesce(sum(value_micro), 0)::bigint from chain_payment p
              where p.channel_id = c.id and p.state = 'settled' and p.block_number > $8) as "depositedAfterMicro"
       from channel c join recent on c.id = recent.channel_id order by c.id`,
    [...params, block],
  );
  const [quiet] = await tx.query<{ micro: bigint }>(
    'sum-quiet-channels',
    `select coalesce(sum(c.charged_micro - c.claimed_micro), 0)::bigint as micro from channel c
      where c.chain_id = $1 and c.token = $6 and c.is_under_way and ${isQuiet} and c.id not in (${claimedLately})`,
    params,
  );
  const [receiver] = await tx.query<NonNullable<ReceiverBooks>>(
    'read-receiver-books',
    `select known_micro as "knownMicro", foreign_micro as "foreignMicro" from channel_receiver
      where chain_id = $1 and token = $2 and receiver = $3`,
    [chainId, key, wallet],
  );
  return { channels, quietMicro: quiet?.micro ?? 0n, receiver: receiver ?? null };
}

export interface KnownTransfer {
  readonly from: string;
  readonly nonce: string;
  readonly valueMicro: bigint;
}

/** Key of a transfer by an authorization, used by `findAccountedFor`. */
export const transferKey = ({ from, nonce, valueMicro }: KnownTransfer): string => `${from} ${nonce} ${valueMicro}`;

/** The transfers that known payments account for, by `transferKey`. */
export async function findAccountedFor(
  sql: Sql,
  { chainId, token, nowS }: AssetKey & { nowS: number },
  transfers: readonly KnownTransfer[],
): Promise<Set<string>> {
  const rows = await sql.query<KnownTransfer>(
    'find-accounted-for',
    `select p.from_address as "from", p.nonce, p.value_micro as "valueMicro" from chain_payment p
       join unnest($3::text[], $4::text[], $5::bigint[]) as k(from_address, nonce, value_micro) using (from_address, nonce, value_micro)
      where p.chain_id = $1 and p.token = $6 and ${accountsFor('$2')}`,
    [
      chainId,
      nowS,
      transfers.map(({ from }) => from),
      transfers.map(({ nonce }) => nonce),
      transfers.map(({ valueMicro }) => valueMicro),
      token,
    ],
  );
  return new Set(rows.map(transferKey));
}

/** Locks the current drift episode of an asset until the transaction ends. */
export async function lockEpisode(tx: Tx, asset: LedgerAsset): Promise<DriftEpisode> {
  await tx.query(
    'begin-episodes',
    'insert into reserves_watch (asset, drifted_checks, is_told) values ($1, 0, false) on conflict do nothing',
    [asset],
  );
  const [row] = await tx.query<DriftEpisode>(
    'lock-episode',
    `select drifted_checks as "driftedChecks", is_told as "isTold" from reserves_watch
      where asset is not distinct from $1 for update`,
    [asset],
  );
  return row as DriftEpisode;
}

export async function writeEpisode(tx: Tx, asset: LedgerAsset, { driftedChecks, isTold }: DriftEpisode): Promise<void> {
  await tx.query(
    'write-episode',
    'update reserves_watch set drifted_checks = $1, is_told = $2 where asset is not distinct from $3',
    [driftedChecks, isTold, asset],
  );
}
