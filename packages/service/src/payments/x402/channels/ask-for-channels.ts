import { CHANNEL_SCHEME } from '@agent-network/contracts/payments/x402';

/**
 * True if a client names the scheme of channels among those that it can pay by. Others are offered none: there are clients that check every
 * entry of a 402, as thirdweb's does, and pay nothing when they do not know one (docs/decisions/0044-channels-for-who-asks.md).
 */
export const asksForChannels = (schemes: string | undefined): boolean =>
  (schemes ?? '').split(/[\s,]+/).includes(CHANNEL_SCHEME);
