/** How a paid invocation ended, as far as it says something of the agent. */
export interface Outcome {
  readonly requestId: string;
  readonly agentId: string;
  readonly accountId: string;
  /** The wallet that paid by x402; '' when a treasury paid. */
  readonly wallet: string;
  /** What was paid for the work, or was to be paid for work that failed. */
  readonly amountMicro: bigint;
  readonly isGood: boolean;
}
