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
   * Claims the vouchers of a channel until a bill of a call in flight is covered: what its payer could still take back pays nobody. False
   * when that is not so within the time that a bill may wait.
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
