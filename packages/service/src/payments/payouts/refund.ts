/** The way of a refund: release to the paying treasury or channel, transfer on chain to the paying wallet, or, below its gas cost, credit at this node. */
export type RefundWay = 'none' | 'treasury' | 'channel' | 'on_chain' | 'credited';

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
