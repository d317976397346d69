import type { PayerSigner } from '../payer-signer.ts';
import type { ChannelBooks } from './channel-books.ts';
import type { Hex } from './channel-signatures.ts';
import type { ChannelOnChain } from './read-channel.ts';

/** The paying wallet, with limits for what the SDK may do without asking. */
export interface ChannelWallet {
  readonly signer: PayerSigner;
  readonly books: ChannelBooks;
  /** Size of a deposit in micro-USDC; `null`: the receiver's suggestion. */
  readonly depositMicro: bigint | null;
  readonly largestDepositMicro: bigint;
  /** Reads a channel from the chain; `null` when no RPC was given. */
  readonly readChannel: ((chainId: number, channelId: Hex) => Promise<ChannelOnChain>) | null;
}
