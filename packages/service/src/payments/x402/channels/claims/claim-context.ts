import type { ChannelClaimSettings } from '../../../../config-payments.ts';
import type { ChainContext } from '../../../onchain/chain-context.ts';
import type { HasClaimSimulator } from './claim-simulator-client.ts';

export interface HasClaimSettings {
  readonly channelClaimSettings: ChannelClaimSettings;
}

/** Dependencies of claims and refunds of channels. */
export interface ClaimContext extends ChainContext, HasClaimSimulator, HasClaimSettings {}
