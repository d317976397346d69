import type { AssetKey } from '../../../../chain/chain-info.ts';
import type { ChannelConfig } from '../../../../chain/channels/channel-digests.ts';
import type { Sql, Tx } from '../../../../store/sql.ts';
import type { RefundsBefore } from './refund-plan.ts';

export interface ChannelRefund {
  readonly id: string;
  readonly channelId: string;
  readonly amountMicro: bigint;
  readonly nonce: bigint;
  readonly claimId: string;
  readonly state: 'sent' | 'done' | 'failed';
  /** Amount that the chain refunded; null: not known. */
  readonly refundedMicro: bigint | null;
  readonly transactionHash: string;
}

const columns = `f.id, f.channel_id as "channelId", f.amount_micro as "amountMicro", f.nonce, f.claim_id as "claimId", f.state,
  f.refunded_micro as "refundedMicro", k.transaction_hash as "transactionHash"`;

/** The refund that this payload began; null: none, or it failed. */
export async function findRefund(sql: Sql, channelId: string, payloadKey: string): Promise<ChannelRefund | null> {
  const [row] = await sql.query<ChannelRefund>(
    'find-channel-refund',
    `select ${columns} from channel_refund f join channel_claim k on k.id = f.claim_id
      where f.channel_id = $1 and f.payload_key = $2 and f.state <> 'failed'`,
    [channelId, payloadKey],
  );
  return row ?? null;
}

export async function findRefundById(sql: Sql, id: string): Promise<ChannelRefund | null> {
  const [row] = await sql.query<ChannelRefund>(
    'find-channel-refund-by-id',
    `select ${columns} from channel_refund f join channel_claim k on k.id = f.claim_id where f.id = $1`,
    [id],
  );
  return row ?? null;
}

export async function findRefundOfClaim(sql: Sql, claimId: string): Promise<ChannelRefund | null> {
  const [row] = await sql.query<ChannelRefund>(
    'find-channel-refund-of-claim',
    `select ${columns} from channel_refund f join channel_claim k on k.id = f.claim_id where f.claim_id = $1`,
    [claimId],
  );
  return row ?? null;
}

/** A channel as a refund sees it. */
export interface RefundableChannel extends ChannelConfig {
  readonly balanceMicro: bigint;
  readonly claimedMicro: bigint;
  readonly chargedMicro: bigint;
  readonly reservedMicro: bigint;
  /** A refund is under way. */
  readonly isRefunding: boolean;
  /** A claim or a refund of the channel is open. */
  readonly isClaiming: boolean;
}

const channelColumns = `c.payer, c.payer_authorizer as "payerAuthorizer", c.receiver, c.receiver_authorizer as "receiverAuthorizer", c.token,
  c.withdraw_delay_s as "withdrawDelayS", c.salt, c.balance_micro as "balanceMicro", c.claimed_micro as "claimedMicro",
  c.charged_micro as "chargedMicro", c.reserved_micro as "reservedMicro",
  exists (select from channel_refund f where f.id = c.refund_id and f.state = 'sent') as "isRefunding",
  exists (select from channel_claim_row r where r.channel_id = c.id and r.is_open) as "isClaiming"`;

export async function findRefundable(sql: Sql, channelId: string): Promise<RefundableChannel | null> {
  const [row] = await sql.query<RefundableChannel>(
    'find-refundable-channel',
    `select ${channelColumns} from channel c where c.id = $1`,
    [channelId],
  );
  return row ?? null;
}

/** Finds a refundable channel and locks its row until the transaction ends, so that no voucher is admitted meanwhile. */
export async function lockRefundable(tx: Tx, channelId: string): Promise<RefundableChannel | null> {
  await tx.query('lock-refundable-channel', 'select id from channel where id = $1 for no key update', [channelId]);
  return findRefundable(tx, channelId);
}

export interface NewRefund {
  readonly id: string;
  readonly channelId: string;
  readonly payloadKey: string;
  readonly amountMicro: bigint;
  readonly nonce: bigint;
  readonly client: string | null;
  readonly claimId: string;
}

/** Records a refund and closes its channel for vouchers, in the transaction that writes its bytes down. */
export async function insertRefund(tx: Tx, refund: NewRefund, now: Date): Promise<void> {
  await tx.query(
    'insert-channel-refund',
    `with refund as (
       insert into channel_refund (id, channel_id, payload_key, amount_micro, nonce, client, claim_id, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning id, channel_id
     )
     update channel c set refund_id = refund.id, changed_at = $8 from refund where c.id = refund.channel_id`,
    [
      refund.id,
      refund.channelId,
      refund.payloadKey,
      refund.amountMicro,
      refund.nonce,
      refund.client,
      refund.claimId,
      now,
    ],
  );
}

/** Records the outcome of a refund. */
export async function writeRefundEnd(
  tx: Tx,
  id: string,
  { state, refundedMicro, now }: { state: ChannelRefund['state']; refundedMicro: bigint | null; now: Date },
): Promise<void> {
  await tx.query(
    'end-channel-refund',
    `update channel_refund set state = $2, refunded_micro = $3, ended_at = $4 where id = $1`,
    [id, state, refundedMicro, now],
  );
}

/** Opens a channel for vouchers again, once the contract has used the nonce of its refund. */
export async function endRefunding(tx: Tx, refundId: string): Promise<void> {
  await tx.query('end-channel-refunding', 'update channel set refund_id = null where refund_id = $1', [refundId]);
}

/** Closes the channel of a refund for vouchers again, after a reorg: its bytes will be mined again. */
export async function reopenRefunding(tx: Tx, claimId: string): Promise<void> {
  await tx.query(
    'reopen-channel-refunding',
    `update channel c set refund_id = f.id from channel_refund f where f.claim_id = $1 and c.id = f.channel_id and c.refund_id is null`,
    [claimId],
  );
}

/** Failed refunds that still close their channel: their signature is public, and their nonce was not used when last seen. */
export const listStuckRefunds = (sql: Sql, { chainId, token }: AssetKey): Promise<ChannelRefund[]> =>
  sql.query<ChannelRefund>(
    'list-stuck-channel-refunds',
    `select ${columns} from channel c join channel_refund f on f.id = c.refund_id join channel_claim k on k.id = f.claim_id
      where c.chain_id = $1 and c.token = $2 and c.refund_id is not null and f.state = 'failed' limit 100`,
    [chainId, token],
  );

/** Refunds of a channel, and of all channels of its payer, and asked for from its network. */
export async function countRefunds(
  sql: Sql,
  who: { channelId: string; payer: string; client: string | null; hourAgo: Date; dayAgo: Date },
): Promise<RefundsBefore> {
  const [row] = await sql.query<RefundsBefore>(
    'count-channel-refunds',
    `select count(*) filter (where f.channel_id = $1 and f.created_at >= $4)::int as "ofChannel",
            count(*) filter (where c.payer = $2)::int as "ofPayer",
            count(*) filter (where c.payer = $2 and f.created_at >= $4)::int as "ofPayerInHour",
            count(*) filter (where f.client = $3)::int as "ofClient",
            count(*) filter (where f.client = $3 and f.created_at >= $4)::int as "ofClientInHour"
       from channel_refund f join channel c on c.id = f.channel_id
      where f.created_at >= $5 and f.state <> 'failed'`,
    [who.channelId, who.payer, who.client, who.hourAgo, who.dayAgo],
  );
  return row ?? { ofChannel: 0, ofPayer: 0, ofPayerInHour: 0, ofClient: 0, ofClientInHour: 0 };
}
