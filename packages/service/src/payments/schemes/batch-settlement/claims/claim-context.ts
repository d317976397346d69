import type { ChannelClaimSettings } from '../../../../config/payments.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import type { ClaimSimulator } from './claim-simulator-client.ts';

export interface HasClaimSettings {
  readonly channelClaimSettings: ChannelClaimSettings;
}

/** Dependencies of claims and refunds of channels. */
export interface ClaimContext extends ChainContext, HasClaimSettings {
  readonly claimSimulator: ClaimSimulator;
}
