import type { ChannelClaimSettings } from '../../../../config/payments.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import type { ClaimSimulator } from './claim-simulator-client.ts';

/** Dependencies of claims and refunds of channels. */
export interface ClaimContext extends ChainContext {
  readonly channelClaimSettings: ChannelClaimSettings;
  readonly claimSimulator: ClaimSimulator;
}
