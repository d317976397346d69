import type { ChannelClaimSettings } from '../../../config/payments.ts';
import type { WalletFunds } from '../../chain-outbox/channel-claims.ts';
import type { Channels } from './channels.ts';
import type { ChannelClaimer } from './claims/claimer.ts';
/** Services of payment channels: state, claims, funds of the wallet. */
export interface ChannelServices {
  readonly channels: Channels;
  readonly channelClaims: ChannelClaimer;
  readonly walletFunds: WalletFunds;
  /** Updates channels to the contract's state, for a database that lacks everything after a block. Returns false if it must be repeated. */
  recoverChannels(fromBlock: bigint): Promise<boolean>;
  readonly channelClaimSettings: ChannelClaimSettings;
}
