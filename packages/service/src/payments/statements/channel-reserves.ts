import type { ChannelOnChain, ReceiverTotals } from '../../chain/channels/settlement-contract-client.ts';
import { minOf } from '../../lib/bigints.ts';

/** A channel in the books with a debt or a recent claim. */
export interface ChannelBooks {
  readonly id: string;
  /** False: its receiver is a former wallet of the node, and its claims are not booked. */
  readonly isToWallet: boolean;
  /** Charged, calls in flight included. */
  readonly dueMicro: bigint;
  readonly claimedMicro: bigint;
  /** Deposits of blocks after the one that is compared. */
  readonly depositedAfterMicro: bigint;
}

/** The wallet as receiver of channels in the books; null: nothing was ever claimed. */
export type ReceiverBooks = { readonly knownMicro: bigint; readonly foreignMicro: bigint } | null;

export interface ChannelReserves {
  /** On chain: owed by vouchers, and claimed and not swept. */
  readonly vouchersMicro: bigint;
  readonly claimedMicro: bigint;
  /** Claims of strangers for the wallet that are not booked yet. */
  readonly unbookedMicro: bigint;
  /** Owed by deposits of later blocks. */
  readonly bookedAfterBlockMicro: bigint;
}

export const noChannels: ChannelReserves = {
  vouchersMicro: 0n,
  claimedMicro: 0n,
  unbookedMicro: 0n,
  bookedAfterBlockMicro: 0n,
};

/**
 * Sums that channels owe the node at a block: vouchers count up to the balance of their channels. Claims and sweeps move money from one of
 * these sums to the next, so it does not matter whether they are booked yet.
 */
export function channelReserves(
  channels: readonly ChannelBooks[],
  receiver: ReceiverBooks,
  onChain: {
    readonly channels: readonly ChannelOnChain[];
    readonly totals: ReceiverTotals;
  },
): ChannelReserves {
  let [vouchersMicro, bookedAfterBlockMicro] = [0n, 0n];
  let knownMicro = receiver?.knownMicro ?? 0n;
  for (const [index, { isToWallet, dueMicro, claimedMicro, depositedAfterMicro }] of channels.entries()) {
    const state = onChain.channels[index] ?? { balanceMicro: 0n, claimedMicro: 0n };
    const covered = minOf(dueMicro, state.balanceMicro);
    vouchersMicro += covered - state.claimedMicro;
    bookedAfterBlockMicro += minOf(dueMicro - covered, depositedAfterMicro);
    if (isToWallet) knownMicro += state.claimedMicro - claimedMicro;
  }
  if (receiver === null) return { vouchersMicro, bookedAfterBlockMicro, claimedMicro: 0n, unbookedMicro: 0n };
  const { totals } = onChain;
  return {
    vouchersMicro,
    bookedAfterBlockMicro,
    claimedMicro: totals.claimedMicro - totals.sweptMicro,
    unbookedMicro: totals.claimedMicro - knownMicro - receiver.foreignMicro,
  };
}
