/**
 * How money went back to its payer: out of the hold into the treasury that had paid, by a transfer on chain to the paying wallet, or,
 * when a transfer is not worth its gas, credited at this node.
 */
export type RefundWay = 'none' | 'treasury' | 'on_chain' | 'credited';

export interface Refund {
  readonly requestId: string;
  readonly accountId: string;
  /** The payer's ledger account and wallet. */
  readonly ledgerAccountId: string;
  readonly address: string;
  readonly amountMicro: bigint;
  /** `refund` at the end of the request; the others are of a bill that was not collected or was refunded later, see `ChainPurpose`. */
  readonly purpose?: 'refund' | 'return' | 'second_return';
}
