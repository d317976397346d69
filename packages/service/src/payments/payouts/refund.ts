export interface Refund {
  readonly requestId: string;
  readonly accountId: string;
  /** The ledger account and the wallet that paid. */
  readonly ledgerAccountId: string;
  readonly address: string;
  readonly amountMicro: bigint;
  /** Beside what was given back when the request ended: of a bill that was not collected, or came back; see `ChainPurpose`. */
  readonly purpose?: 'refund' | 'return' | 'second_return';
}
