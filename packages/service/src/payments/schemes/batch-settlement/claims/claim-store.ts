import { type AssetKey, tokenKey } from '../../../../chain/chain-info.ts';
import type { ChannelConfig } from '../../../../chain/channels/channel-digests.ts';
import type { Sql, Tx } from '../../../../store/sql.ts';
import type { ClaimReason, UnclaimedChannel, Voucher } from './claim-plan.ts';
import type { ClaimState } from './claim-state.ts';

/** A transaction that claims vouchers, or that refunds a channel. */
export interface Claim {
  readonly id: string;
  readonly reason: ClaimReason | 'refund';
  readonly state: ClaimState;
  readonly transactionHash: string;
  readonly blockHash: string | null;
}

export interface ClaimPlace {
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly gasUsed: bigint;
}

type UnclaimedRow = ChannelConfig &
  Omit<UnclaimedChannel, 'config' | 'highest' | 'covered' | 'below' | 'within'> & {
    readonly signedMicro: bigint;
    readonly signature: string | null;
    readonly coveredMax: bigint | null;
    readonly coveredSignature: string | null;
    readonly belowMax: bigint | null;
    readonly belowSignature: string | null;
    readonly withinMax: bigint | null;
    readonly withinSignature: string | null;
  };

const configIn = (row: ChannelConfig): ChannelConfig => ({
  payer: row.payer,
  payerAuthorizer: row.payerAuthorizer,
  receiver: row.receiver,
  receiverAuthorizer: row.receiverAuthorizer,
  token: row.token,
  withdrawDelayS: row.withdrawDelayS,
  salt: row.salt,
});

const toVoucher = (maxMicro: bigint | null, signature: string | null): Voucher | null =>
  maxMicro === null || signature === null ? null : { maxMicro, signature };

/** SQL join: the highest known voucher of a channel up to, or below, a sum; default: the charged amount. */
const highestVoucher = (name: string, comparison: '<=' | '<', sum = 'c.charged_micro') => `
  left join lateral (select max_micro, signature from channel_charge
                      where channel_id = c.id and max_micro ${comparison} ${sum} and max_micro > c.claimed_micro
                      order by max_micro desc limit 1) ${name} on true`;

/** SQL: upper bound of the amount that a claim adds to a channel, for any vouchers: the charged amount, limited by the balance. */
const WITHIN_REACH = 'least(c.charged_micro, c.balance_micro) - c.claimed_micro';
/** SQL: claimable amount of a channel that the payer withdraws from. It includes running calls, as their money could be taken. */
const LAST_REACH = 'least(c.charged_micro + c.reserved_micro, c.balance_micro) - c.claimed_micro';
/** From then on, less than a claim is worth is claimed of a payer that withdraws, as `planClaim` says. */
const LAST_PART_AT = `c.withdraw_requested_at + c.withdraw_delay_s * interval '0.5 s'`;

/**
 * The oldest call is looked for among the first calls by their sums: the time would grow with the calls otherwise. It is one of these unless
 * as many were in flight at once.
 */
const OLDEST_AMONG = 100;

/** The end of the oldest call of a channel that is not claimed, and fulfils a condition. */
const oldestCall = (condition: string) => `(
    select min(ended_at) from (select ended_at from channel_charge
      where channel_id = c.id and max_micro > c.claimed_micro and ${condition} order by max_micro limit ${OLDEST_AMONG}) first
  )`;

const oldestCharged = oldestCall('charged_micro > 0');

/** Selects channels to plan a claim for (`planClaim`). */
export interface UnclaimedFilter {
  readonly chainId: number;
  readonly token: string;
  /** Only channels that this wallet signs the claims of. */
  readonly wallet: string;
  /** Minimum debt of a channel. Smaller ones are filtered out first, as there is no limit to channels that payers have left. */
  readonly minMicro: bigint;
  /** Debt to claim at once, by a voucher below the charged amount. */
  readonly thresholdMicro: bigint;
  /** Claimed when charged before that; null: whenever. */
  readonly chargedBefore: Date | null;
  readonly now: Date;
  /** Left out. */
  readonly refused: readonly string[];
  /** Channels to claim with their running calls, regardless of debt. */
  readonly ahead: readonly string[];
  readonly limit: number;
}

/** Channels with a due claim and no open one: first those with a payer who withdraws and that must pay before, then by amount. */
export async function listUnclaimed(sql: Sql, filter: UnclaimedFilter): Promise<UnclaimedChannel[]> {
  const rows = await sql.query<UnclaimedRow>(
    'list-unclaimed-channels',
    `select c.id as "channelId", c.balance_micro as "balanceMicro", c.claimed_micro as "claimedMicro", c.charged_micro as "chargedMicro",
            c.reserved_micro as "reservedMicro", c.signed_micro as "signedMicro", c.signature, covered.max_micro as "coveredMax", covered.signature as "coveredSignature",
            below.max_micro as "belowMax", below.signature as "belowSignature",
            within.max_micro as "withinMax", within.signature as "withinSignature",
            ${oldestCharged} as "oldestAt", c.withdraw_requested_at as "withdrawRequestedAt", c.payer, c.payer_authorizer as "payerAuthorizer",
            c.receiver, c.receiver_authorizer as "receiverAuthorizer", c.token, c.withdraw_delay_s as "withdrawDelayS", c.salt
       from (select * from channel c where c.chain_id = $1 and c.token = $10 and c.receiver_authorizer = $2 and c.owes and c.withdraw_requested_at is null
          and c.id <> all($9) and ${WITHIN_REACH} >= $3
        union all
        select * from channel c where c.chain_id = $1 and c.token = $10 and c.receiver_authorizer = $2 and c.withdraw_requested_at is not null
          and ${LAST_REACH} >= case when ${LAST_PART_AT} <= $6 then 1 else $3::bigint end
        union all
        select * from channel c where c.id = any($9) and c.receiver_authorizer = $2 and c.withdraw_requested_at is null) c
         ${highestVoucher('covered', '<=')}${highestVoucher('below', '<')}
         ${highestVoucher('within', '<=', 'case when c.id = any($9) then c.charged_micro + c.reserved_micro end')}
      where (c.withdraw_requested_at is not null and c.signature is not null
          or within.max_micro is not null
          or c.withdraw_requested_at is null and covered.max_micro - c.claimed_micro >= $3 and (
            $5::timestamptz is null or ${oldestCharged} <= $5
            or below.max_micro - c.claimed_micro >= $4 and c.balance_micro - c.claimed_micro >= $4))
        and c.id <> all($7) and not exists (select from channel_claim_row r where r.channel_id = c.id and r.is_open)
      order by c.withdraw_requested_at is null and within.max_micro is null, c.charged_micro - c.claimed_micro desc, c.id limit $8`,
    [
      ...[filter.chainId, filter.wallet, filter.minMicro, filter.thresholdMicro, filter.chargedBefore, filter.now],
      ...[filter.refused, filter.limit, filter.ahead, filter.token],
    ],
  );
  return rows.map((row) => ({
    channelId: row.channelId,
    config: configIn(row),
    balanceMicro: row.balanceMicro,
    claimedMicro: row.claimedMicro,
    chargedMicro: row.chargedMicro,
    reservedMicro: row.reservedMicro,
    highest: toVoucher(row.signedMicro, row.signature),
    covered: toVoucher(row.coveredMax, row.coveredSignature),
    below: toVoucher(row.belowMax, row.belowSignature),
    within: toVoucher(row.withinMax, row.withinSignature),
    oldestAt: row.oldestAt,
    withdrawRequestedAt: row.withdrawRequestedAt,
  }));
}

export interface NewClaim {
  readonly id: string;
  readonly asset: AssetKey;
  readonly reason: ClaimReason | 'refund';
  readonly transactionHash: string;
  readonly rows: readonly { readonly channelId: string; readonly maxMicro: bigint; readonly totalMicro: bigint }[];
}

/**
 * Records a claim and that its vouchers are public from now on, in the transaction that writes its bytes down. False when one of the
 * channels is in another open claim, or all of it was claimed since the claim was planned: the caller rolls back. A refund closes its
 * channel, with or without a claim.
 */
export async function insertClaim(tx: Tx, claim: NewClaim, now: Date): Promise<boolean> {
  await tx.query(
    'insert-channel-claim',
    `insert into channel_claim (id, chain_id, token, reason, transaction_hash, created_at) values ($1, $2, $3, $4, $5, $6)`,
    [claim.id, claim.asset.chainId, tokenKey(claim.asset), claim.reason, claim.transactionHash, now],
  );
  const inserted = await tx.query(
    'insert-channel-claim-rows',
    `insert into channel_claim_row (claim_id, channel_id, max_micro, total_micro)
     select $1, channel, max, total from unnest($2::text[], $3::bigint[], $4::bigint[]) as n(channel, max, total) order by channel
     on conflict do nothing returning channel_id`,
    [
      claim.id,
      claim.rows.map((r) => r.channelId),
      claim.rows.map((r) => r.maxMicro),
      claim.rows.map((r) => r.totalMicro),
    ],
  );
  if (inserted.length < claim.rows.length) return false;
  const published = await tx.query(
    'publish-vouchers',
    `with locked as (select id from channel where id = any($1) order by id for no key update)
     update channel c set published_micro = greatest(c.published_micro, n.max)
       from unnest($1::text[], $2::bigint[], $3::bigint[]) as n(channel, max, total) join locked on locked.id = n.channel
      where c.id = locked.id and ($4 or n.total > c.claimed_micro) returning c.id`,
    [
      claim.rows.map((r) => r.channelId),
      claim.rows.map((r) => r.maxMicro),
      claim.rows.map((r) => r.totalMicro),
      claim.reason === 'refund',
    ],
  );
  return published.length === claim.rows.length;
}

const columns = `id, reason, state, transaction_hash as "transactionHash", block_hash as "blockHash"`;

/** Open claims, oldest first. */
export const listOpenClaims = (sql: Sql, asset: AssetKey, limit: number): Promise<Claim[]> =>
  sql.query<Claim>(
    'list-open-channel-claims',
    `select ${columns} from channel_claim
      where chain_id = $1 and token = $3 and state = 'sent' order by created_at, id limit $2`,
    [asset.chainId, limit, tokenKey(asset)],
  );

/** Moves a claim to a state, if it is still in another; its channels are free for the next claim, or in this one again. */
export async function moveClaim(
  tx: Tx,
  claim: Pick<Claim, 'id' | 'state'>,
  to: { state: ClaimState; place: ClaimPlace | null; now: Date },
): Promise<boolean> {
  const isOpen = to.state === 'sent';
  const moved = await tx.query(
    'move-channel-claim',
    `update channel_claim set state = $3, block_number = $4, block_hash = $5, ended_at = $6, gas_used = $7
      where id = $1 and state = $2 returning id`,
    [
      claim.id,
      claim.state,
      to.state,
      to.place?.blockNumber ?? null,
      to.place?.blockHash ?? null,
      isOpen ? null : to.now,
      to.place?.gasUsed ?? null,
    ],
  );
  if (moved.length === 0) return false;
  await tx.query(
    'move-channel-claim-rows',
    `update channel_claim_row r set is_open = $2 where claim_id = $1 and is_open <> $2
        and ($2 = false or not exists (select from channel_claim_row o where o.channel_id = r.channel_id and o.is_open))`,
    [claim.id, isOpen],
  );
  return true;
}

/**
 * Claims recorded as done in a block that no longer has their transaction, found by the watch for reorgs, within the last `blocks` blocks.
 */
export const listMovedClaims = (sql: Sql, asset: AssetKey, blocks: bigint): Promise<Claim[]> =>
  sql.query<Claim>(
    'list-moved-channel-claims',
    `select k.id, k.reason, k.state, k.transaction_hash as "transactionHash", k.block_hash as "blockHash"
       from channel_claim k
      where k.chain_id = $1 and k.token = $3 and k.state = 'done'
        and k.block_number >= (select max(block_number) from channel_claim
                                where chain_id = $1 and token = $3 and state = 'done') - $2::bigint
        and not exists (select from chain_transaction one
                          join chain_transaction t on t.chain_id = one.chain_id and t.signer = one.signer and t.nonce = one.nonce
                         where one.hash = k.transaction_hash and t.block_hash = k.block_hash)`,
    [asset.chainId, blocks, tokenKey(asset)],
  );

/** Channels to a wallet with claims that may have changed since a block: open ones, and those in blocks that a reorg may remove. */
export async function listUnsettled(
  sql: Sql,
  { chainId, token, wallet }: AssetKey & { readonly wallet: string },
  fromBlock: bigint,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-unsettled-channels',
    `select distinct r.channel_id as id from channel_claim k join channel_claim_row r on r.claim_id = k.id
        join channel c on c.id = r.channel_id
      where k.chain_id = $1 and k.token = $4 and c.receiver = $3 and (k.state = 'sent' or k.state = 'done' and k.block_number >= $2)`,
    [chainId, fromBlock, wallet, tokenKey({ chainId, token })],
  );
  return rows.map(({ id }) => id);
}

/** Figures of channels, and the unclaimed amount. */
export interface ChannelFigures {
  /** Channels that hold more than was charged. */
  readonly open: number;
  readonly unclaimedMicro: bigint;
  /** End of the oldest unclaimed call, among channels with a claim that is worth its gas. */
  readonly oldestAt: Date | null;
  /** Number of overdue channels with a claim that is worth its gas. */
  readonly overdue: number;
  /** Channels that owe something while their payer withdraws. */
  readonly withdrawals: number;
}

/**
 * Reads figures of channels. Claims of old charges are overdue since `chargedBefore`; claims of channels with a withdrawing payer since
 * `withdrawnBefore`.
 */
export async function readChannelFigures(
  sql: Sql,
  { chainId, token }: AssetKey,
  due: { readonly minMicro: bigint; readonly chargedBefore: Date; readonly withdrawnBefore: Date },
): Promise<ChannelFigures> {
  const [row] = await sql.query<ChannelFigures>(
    'read-channel-figures',
    `select (select count(*)::int from channel where chain_id = $1 and token = $5 and has_rest) as open, owing.*, worth.*
       from (select coalesce(sum(charged_micro - claimed_micro - lost_micro), 0)::bigint as "unclaimedMicro",
                    count(*) filter (where withdraw_requested_at is not null)::int as withdrawals
               from channel where chain_id = $1 and token = $5 and owes) owing,
            (select min(${oldestCharged}) as "oldestAt",
                    count(*) filter (where least(covered.max_micro, c.balance_micro) - c.claimed_micro >= $2
                         and ${oldestCall('max_micro <= c.charged_micro')} < $3
                       or ${WITHIN_REACH} >= $2 and c.withdraw_requested_at < $4 or ${LAST_PART_AT} < $4)::int as overdue
               from (select * from channel c where c.chain_id = $1 and c.token = $5 and c.owes and (${WITHIN_REACH} >= $2 or ${LAST_PART_AT} < $4)) c
                 ${highestVoucher('covered', '<=')}) worth`,
    [chainId, due.minMicro, due.chargedBefore, due.withdrawnBefore, token],
  );
  return row ?? { open: 0, unclaimedMicro: 0n, oldestAt: null, overdue: 0, withdrawals: 0 };
}
