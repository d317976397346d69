import type { ChannelStateExtra } from '@agent-network/contracts/payments/x402';
import { inAsset, type LedgerAsset, plainId } from '../../ledger/asset-account.ts';
import type { Payer } from '../../ledger/scheme-id.ts';

/** A channel of the scheme `batch-settlement`, as the node's books have it; see the table `channel`. */
export interface Channel {
  /** EIP-712 digest of the configuration, lower case. */
  readonly id: string;
  /** The paying wallet. */
  readonly payer: string;
  readonly balanceMicro: bigint;
  readonly claimedMicro: bigint;
  readonly chargedMicro: bigint;
  readonly reservedMicro: bigint;
  /** The highest voucher. */
  readonly signedMicro: bigint;
  readonly signature: string | null;
  readonly publishedMicro: bigint;
  readonly refundNonce: bigint;
  /** null: the payer has not begun to withdraw. */
  readonly withdrawRequestedAt: Date | null;
  /** The cooperative refund under way; null: none. */
  readonly refundId: string | null;
  /** The request that has the turn: it got the current sum, and no other call is admitted before its answer; null: none. */
  readonly turnRequestId: string | null;
}

/** Ledger account of a channel: carries the charge of a call from its admission to its end. */
export const channelAccountId = (channelId: string, asset: LedgerAsset = null): string =>
  inAsset(`channel:${channelId}`, asset);

export const channelOfAccount = (accountId: string): string => plainId(accountId).slice(channelAccountId('').length);

/** The channel that pays for a request; null: another scheme pays, or the call is free. */
export const payingChannel = ({ scheme, payerLedgerId }: Payer): string | null =>
  scheme === 'batch-settlement' && payerLedgerId !== null ? channelOfAccount(payerLedgerId) : null;

/** A channel on the wire. A call in flight counts as charged: the next voucher has to cover it. */
export const toChannelState = (channel: Channel): ChannelStateExtra => ({
  channelId: channel.id,
  balance: channel.balanceMicro.toString(),
  totalClaimed: channel.claimedMicro.toString(),
  withdrawRequestedAt: Math.floor((channel.withdrawRequestedAt?.getTime() ?? 0) / 1000),
  refundNonce: channel.refundNonce.toString(),
  chargedCumulativeAmount: (channel.chargedMicro + channel.reservedMicro).toString(),
});
