import type { ChannelConfig } from '../../../../chain/channels/channel-digests.ts';
import { maxOf, minOf } from '../../../../lib/bigints.ts';

/** A signed promise of the payer: up to this total the node may claim. */
export interface Voucher {
  readonly maxMicro: bigint;
  readonly signature: string;
}

/** A channel of which something is charged, or in flight, and not claimed. */
export interface UnclaimedChannel {
  readonly channelId: string;
  readonly config: ChannelConfig;
  readonly balanceMicro: bigint;
  readonly claimedMicro: bigint;
  /** Sum of ended calls. */
  readonly chargedMicro: bigint;
  /** Prices of calls in flight. */
  readonly reservedMicro: bigint;
  /** The highest voucher; `null` when none is known. */
  readonly highest: Voucher | null;
  /** The highest voucher up to the charged amount. */
  readonly covered: Voucher | null;
  /** The highest voucher below the charged amount. */
  readonly below: Voucher | null;
  /** The highest voucher that promises at most the charged and reserved amounts; null: not queried. */
  readonly within: Voucher | null;
  /** End of the oldest call that is charged and not claimed. */
  readonly oldestAt: Date | null;
  readonly withdrawRequestedAt: Date | null;
}

export interface ClaimRules {
  /** A channel that owes this much is claimed at once. */
  readonly thresholdMicro: bigint;
  /** Less is not worth its gas, except at the end of a channel. */
  readonly minMicro: bigint;
  /** Age from which an owed amount is claimed. */
  readonly intervalMs: number;
}

export type ClaimReason = 'threshold' | 'age' | 'payout' | 'stop' | 'withdrawal';

/** `due`: by the rules; `payout` and `stop`: every claim that is worth its gas. */
export type ClaimMode = 'due' | 'payout' | 'stop';

export interface PlannedClaim {
  readonly channelId: string;
  readonly config: ChannelConfig;
  readonly voucher: Voucher;
  /** New total of all claims of the channel. */
  readonly totalMicro: bigint;
  /** Amount that this claim adds. */
  readonly valueMicro: bigint;
  readonly reason: ClaimReason;
}

/**
 * Plans the claim of one channel; null: nothing to claim now.
 * A claim publishes its voucher, and while the channel is open a public voucher must never pay for a call. So it promises at most the
 * charged amount, which never falls; at the threshold less, so that it can't ask for a refund either.
 * Two cases claim running calls too: a bill of a running call is paid from claimed money (if the call fails, the payer is credited), and a
 * payer who withdraws could take that money back. Such a channel accepts no further vouchers, so the highest one is used.
 */
export function planClaim(
  channel: UnclaimedChannel,
  mode: ClaimMode,
  rules: ClaimRules,
  now: Date,
): PlannedClaim | null {
  if (channel.withdrawRequestedAt !== null) return planLast(channel, rules, now);
  const ahead = claimWith(withFlight(channel), channel.within, 'payout');
  if (ahead) return ahead;
  const worth = (claim: PlannedClaim | null, leastMicro: bigint) =>
    claim !== null && claim.valueMicro >= leastMicro ? claim : null;
  if (mode !== 'due') return worth(claimWith(channel, channel.covered, mode), rules.minMicro);
  const full = worth(claimWith(channel, channel.below, 'threshold'), maxOf(rules.thresholdMicro, rules.minMicro));
  if (full) return full;
  const isOld = channel.oldestAt !== null && now.getTime() - channel.oldestAt.getTime() >= rules.intervalMs;
  return isOld ? worth(claimWith(channel, channel.covered, 'age'), rules.minMicro) : null;
}

/** Part of the withdrawal delay after which sums that are not worth their gas are claimed as well; until then they wait for company. */
const LAST_PART = 2;

function planLast(channel: UnclaimedChannel, rules: ClaimRules, now: Date): PlannedClaim | null {
  const claim = claimWith(withFlight(channel), channel.highest, 'withdrawal');
  if (!claim || claim.valueMicro >= rules.minMicro) return claim;
  const waitedMs = now.getTime() - (channel.withdrawRequestedAt?.getTime() ?? 0);
  return waitedMs >= (channel.config.withdrawDelayS * 1000) / LAST_PART ? claim : null;
}

/** The channel as if its calls in flight had ended at their prices. */
const withFlight = (channel: UnclaimedChannel): UnclaimedChannel => ({
  ...channel,
  chargedMicro: channel.chargedMicro + channel.reservedMicro,
});

/** Claims the charged amount, limited by voucher and balance. */
function claimWith(channel: UnclaimedChannel, voucher: Voucher | null, reason: ClaimReason): PlannedClaim | null {
  if (voucher === null) return null;
  const totalMicro = minOf(voucher.maxMicro, channel.chargedMicro, channel.balanceMicro);
  const valueMicro = totalMicro - channel.claimedMicro;
  const { channelId, config } = channel;
  return valueMicro > 0n ? { channelId, config, voucher, totalMicro, valueMicro, reason } : null;
}
