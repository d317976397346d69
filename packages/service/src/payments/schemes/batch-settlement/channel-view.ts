import { formatUsdc } from '@agent-network/contracts/money';
import type { ChannelDetail, ChannelItem, ChannelState } from '@agent-network/contracts/payments/channels';
import type { ChannelConfig } from '../../../chain/channels/channel-digests.ts';
import type { Channel } from './channel.ts';

/** A channel without its vouchers: a signature is never shown. */
export interface ChannelFacts
  extends ChannelConfig,
    Pick<Channel, 'id' | 'balanceMicro' | 'claimedMicro' | 'chargedMicro' | 'reservedMicro' | 'withdrawRequestedAt'> {
  readonly chainId: number;
  readonly isRefunding: boolean;
  readonly createdAt: Date;
  readonly changedAt: Date;
}

const remainingOf = ({ balanceMicro, chargedMicro, reservedMicro }: ChannelFacts): bigint => {
  const left = balanceMicro - chargedMicro - reservedMicro;
  return left > 0n ? left : 0n;
};

function stateOf(channel: ChannelFacts): ChannelState {
  if (channel.withdrawRequestedAt) return 'withdrawing';
  if (channel.isRefunding) return 'refunding';
  return remainingOf(channel) > 0n ? 'open' : 'used_up';
}

/** Time from which the payer can withdraw the rest by itself. */
export const availableAt = (requestedAt: Date, withdrawDelayS: number): Date =>
  new Date(requestedAt.getTime() + withdrawDelayS * 1000);

/** A channel as its owner sees it. */
export function toChannelItem(channel: ChannelFacts): ChannelItem {
  const { id, chainId, payer, withdrawRequestedAt, withdrawDelayS } = channel;
  return {
    channelId: id,
    chainId,
    payer,
    state: stateOf(channel),
    balance: formatUsdc(channel.balanceMicro),
    charged: formatUsdc(channel.chargedMicro),
    inFlight: formatUsdc(channel.reservedMicro),
    remaining: formatUsdc(remainingOf(channel)),
    claimed: formatUsdc(channel.claimedMicro),
    withdrawal: withdrawRequestedAt && {
      requestedAt: withdrawRequestedAt.toISOString(),
      availableAt: availableAt(withdrawRequestedAt, withdrawDelayS).toISOString(),
    },
    createdAt: channel.createdAt.toISOString(),
    changedAt: channel.changedAt.toISOString(),
  };
}

export function toChannelDetail(channel: ChannelFacts): ChannelDetail {
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelayS: withdrawDelay, salt } = channel;
  const config = { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt };
  return { ...toChannelItem(channel), config };
}
