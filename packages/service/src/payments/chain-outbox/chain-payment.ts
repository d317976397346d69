import type { Authorization } from '../../chain/keys/authorization.ts';
import type { ChainPaymentState } from './chain-payment-state.ts';

/**
 * Purpose of a payment. A `refund` goes to the wallet that paid for a request; a `return` is of a bill that came back after the request
 * ended, and a `second_return` of money that came back after that. Incoming: `home_refund` and `home_return` are the refund and return from
 * another node for a request forwarded to it. A `channel_deposit` goes into a payment channel, and not through the wallet.
 */
export type ChainPurpose =
  | 'invocation'
  | 'deposit'
  | 'refund'
  | 'withdrawal'
  | 'bill'
  | 'return'
  | 'second_return'
  | 'channel_deposit'
  | HomePurpose;

/** Purposes of incoming refunds; see `ChainPurpose`. */
export type HomePurpose = 'home_refund' | 'home_return';

export const isFromHome = (purpose: ChainPurpose): purpose is HomePurpose =>
  purpose === 'home_refund' || purpose === 'home_return';

/** Into the node's wallet, out of it, or past it: from a payer into a payment channel. */
export type ChainDirection = 'in' | 'out' | 'channel';

export interface NewChainPayment {
  readonly id: string;
  readonly chainId: number;
  readonly token: string;
  readonly direction: ChainDirection;
  readonly purpose: ChainPurpose;
  readonly subjectId: string;
  readonly accountId: string | null;
  readonly ledgerAccountId: string;
  readonly authorization: Authorization;
  readonly signature: string;
  readonly fingerprint: Buffer | null;
  readonly x402Version: 1 | 2 | null;
  /** The channel that it deposits in. */
  readonly channelId?: string | null;
  /** Calldata of the deposit; see `SignedAuthorization`. */
  readonly depositCall?: string | null;
  /** Network address that showed the payment; null: it was not shown by a client. */
  readonly client?: string | null;
  /** Other keys of the purchase, claimed together with the authorization and stored separately. */
  readonly purchaseKeys?: readonly string[];
}

export interface ChainPayment extends NewChainPayment {
  readonly state: ChainPaymentState;
  readonly reason: string | null;
  readonly transactionHash: string | null;
  readonly createdAt: Date;
  /** Time at which a settled payment lost its block; null: it has one. */
  readonly lostAt: Date | null;
}
