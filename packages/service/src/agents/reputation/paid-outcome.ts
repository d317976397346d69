/** The end of a paid invocation, as evidence about the agent. */
export interface PaidOutcome {
  readonly requestId: string;
  readonly agentId: string;
  readonly accountId: string;
  /** The wallet that paid by x402; '' for a treasury. */
  readonly wallet: string;
  /** The amount paid for the work, or due for work that failed. */
  readonly amountMicro: bigint;
  readonly isGood: boolean;
}
