/** Requests claims of the channels' debts; one run at a time in this process. */
export interface ChannelClaims {
  /** Runs the due claims now instead of at the next interval. Returns at once. */
  requestRun(): void;
}

/** USDC of the wallet on chain. A part of the node's money may still be in channels. */
export interface WalletFunds {
  /**
   * Claims and sweeps vouchers when the wallet holds less than this amount besides all open payouts. Resolves when the wallet has it, when
   * nothing more can be claimed, or after the longest time that a caller should wait. Best effort: the token decides if the payout is
   * possible.
   */
  ensure(amountMicro: bigint): Promise<void>;
  /**
   * Claims the voucher earnings of a ledger account if less than this amount is free without them. Waits like `ensure`, and is best effort,
   * too.
   */
  free(ledgerAccountId: string, amountMicro: bigint): Promise<void>;
  /**
   * Claims a channel's vouchers until a bill of a running call is covered, since the payer could withdraw unclaimed money. Returns false if
   * that takes longer than the bill may wait.
   */
  cover(channelId: string, billMicro: bigint, signal: AbortSignal): Promise<boolean>;
}
