/** Requests claims of what channels owe; one run at a time in this process. */
export interface ChannelClaims {
  /** Claims what is due now instead of at the next interval. Returns at once. */
  requestRun(): void;
}

export interface HasChannelClaims {
  readonly channelClaims: ChannelClaims;
}

/** USDC that the wallet holds on chain. A part of what the node owns may still be in channels. */
export interface WalletFunds {
  /**
   * Claims and sweeps vouchers when the wallet holds less than this amount beside all open payouts. Resolves when the wallet has it, when
   * nothing more can be claimed, or after as long as a caller should wait. Best effort: whether the payout is possible, the token tells.
   */
  ensure(amountMicro: bigint): Promise<void>;
  /** Claims what a ledger account has earned by vouchers, when less than this amount of it is free without. Waits as long, with as little promise. */
  free(ledgerAccountId: string, amountMicro: bigint): Promise<void>;
  /**
   * Claims a channel's vouchers until a bill of a running call is covered, since the payer could withdraw unclaimed money. Returns false if
   * that takes longer than the bill may wait.
   */
  cover(channelId: string, billMicro: bigint, signal: AbortSignal): Promise<boolean>;
}

export interface HasWalletFunds {
  readonly walletFunds: WalletFunds;
}

export interface HasChannelRecovery {
  /** Brings the channels of a database that lacks what came after a block up to the contract. False: it has to be repeated. */
  recoverChannels(fromBlock: bigint): Promise<boolean>;
}
