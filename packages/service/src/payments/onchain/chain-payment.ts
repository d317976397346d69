import type { Authorization } from '../../chain/authorization.ts';
import type { ChainPaymentState } from './chain-payment-state.ts';

/**
 * What a payment is for. Beside the `refund` of a request to the wallet that paid: `return`, of what was billed and came back after its
 * end, and `second_return`, of what came after that. In: `home_refund` and `home_return` are the refund and return of another node to
 * us, for a request that we passed on to it.
 */
export type ChainPurpose =
  | 'invocation'
  | 'deposit'
  | 'refund'
  | 'withdrawal'
  | 'bill'
  | 'return'
  | 'second_return'
  | HomePurpose;

/** See `ChainPurpose`. */
export type HomePurpose = 'home_refund' | 'home_return';

export const isFromHome = (purpose: ChainPurpose): purpose is HomePurpose =>
  purpose === 'home_refund' || purpose === 'home_return';

export interface NewChainPayment {
  readonly id: string;
  readonly chainId: number;
  readonly token: string;
  readonly direction: 'in' | 'out';
  readonly purpose: ChainPurpose;
  readonly subjectId: string;
  readonly accountId: string | null;
  readonly ledgerAccountId: string;
  readonly authorization: Authorization;
  readonly signature: string;
  readonly fingerprint: Buffer | null;
  readonly x402Version: 1 | 2 | null;
  /** The network address that showed it; null: nobody showed it. */
  readonly client?: string | null;
  /** Second names of the purchase, claimed together with the authorization and not stored with it. */
  readonly purchaseKeys?: readonly string[];
}

export interface ChainPayment extends NewChainPayment {
  readonly state: ChainPaymentState;
  readonly reason: string | null;
  readonly transactionHash: string | null;
  readonly createdAt: Date;
  /** Since when a settled payment's block is gone; null: it is not. */
  readonly lostAt: Date | null;
}
