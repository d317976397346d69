import type { Tx } from '../../store/sql.ts';
import type { HoldRequest } from '../ledger/hold.ts';

/** A settled payment of a request. */
export interface PaidRequest {
  readonly requestId: string;
  readonly paymentHash: string | null;
}

/** The purchases that payments are for. */
export interface Purchases {
  /**
   * Begins requests in the transaction that records their settlements, before it locks the ledger. Returns the holds to place on the
   * incoming money, so that neither another request of the wallet nor a reversal of another payment ever finds it free.
   */
  begin(tx: Tx, paid: readonly PaidRequest[], now: Date): Promise<HoldRequest[]>;
}
