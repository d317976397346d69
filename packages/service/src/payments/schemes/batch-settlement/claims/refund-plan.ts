/** A refund request: a payload of type `refund` with a verified signature and configuration. */
export interface RefundAsk {
  readonly channelId: string;
  /** For exactly the charged amount. */
  readonly voucher: { readonly maxMicro: bigint; readonly signature: string };
  /** Part of the rest to refund; null: all of it. */
  readonly amountMicro: bigint | null;
  /** Identity of the payload: shown again, it gets the same answer. */
  readonly payloadKey: string;
  /** Network address that asks. */
  readonly client: string | null;
}

export type RefundRefusal = `invalid_batch_settlement_evm_${
  | 'channel_not_found'
  | 'cumulative_amount_mismatch'
  | 'channel_busy'
  | 'refund_no_balance'
  | 'refund_amount_invalid'
  | 'refund_transaction_failed'}`;

interface RefundStatus {
  readonly balanceMicro: bigint;
  readonly chargedMicro: bigint;
  readonly reservedMicro: bigint;
  readonly isRefunding: boolean;
  readonly isClaiming: boolean;
}

export interface RefundRules {
  readonly minRefundMicro: bigint;
  readonly refundsPerDay: number;
}

export type RefundPlan =
  | { readonly kind: 'refund'; readonly amountMicro: bigint; readonly isFull: boolean }
  /** Calls are in flight, or a claim is: soon it is different. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'refused'; readonly reason: RefundRefusal };

const refused = (reason: RefundRefusal): RefundPlan => ({ kind: 'refused', reason });

/**
 * Judges a refund by the books. The maximum cost of running calls stays in the channel, so they end first. The balance is the lower one of
 * books and chain: a deposit that is not deep enough is refunded later.
 */
export function planRefund(
  channel: RefundStatus | null,
  ask: Pick<RefundAsk, 'voucher' | 'amountMicro'>,
  onChain: { readonly balanceMicro: bigint },
  rules: RefundRules,
): RefundPlan {
  if (channel === null) return refused('invalid_batch_settlement_evm_channel_not_found');
  if (channel.reservedMicro > 0n || channel.isRefunding || channel.isClaiming) return { kind: 'busy' };
  if (ask.voucher.maxMicro !== channel.chargedMicro)
    return refused('invalid_batch_settlement_evm_cumulative_amount_mismatch');
  const { balanceMicro } = channel.balanceMicro < onChain.balanceMicro ? channel : onChain;
  const leftMicro = balanceMicro - channel.chargedMicro;
  if (leftMicro <= 0n) return refused('invalid_batch_settlement_evm_refund_no_balance');
  const amountMicro = ask.amountMicro ?? leftMicro;
  const isFull = amountMicro === leftMicro;
  if (amountMicro <= 0n || amountMicro > leftMicro || (!isFull && amountMicro < rules.minRefundMicro))
    return refused('invalid_batch_settlement_evm_refund_amount_invalid');
  return { kind: 'refund', amountMicro, isFull };
}

/** Most refunds of a channel in an hour. */
const PER_CHANNEL = 2;

/** Refunds that were made: of the channel in an hour; of the payer, and from its network, in a day and in the last hour of it. */
export interface RefundsBefore {
  readonly ofChannel: number;
  readonly ofPayer: number;
  readonly ofPayerInHour: number;
  readonly ofClient: number;
  readonly ofClientInHour: number;
}

/**
 * True if the payer has used up its refunds, each of which costs the node gas. The rest of a channel is refunded in full once an hour. A
 * payer that has used up its share of the day gets one such refund in an hour, across all of its channels. A network address, which many
 * payers may share, gets a day's share in each hour.
 */
export function isTooOften(
  { ofChannel, ofPayer, ofPayerInHour, ofClient, ofClientInHour }: RefundsBefore,
  { isFull }: { readonly isFull: boolean },
  { refundsPerDay }: RefundRules,
): boolean {
  if (isFull && ofChannel === 0)
    return (ofPayer >= refundsPerDay && ofPayerInHour > 0) || ofClientInHour >= refundsPerDay;
  return ofChannel >= PER_CHANNEL || ofPayer >= refundsPerDay || ofClient >= refundsPerDay;
}
