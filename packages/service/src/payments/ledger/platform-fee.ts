/** The node's fee on agents' earnings, in basis points. */
export interface HasPlatformFee {
  readonly platformFeeBps: number;
}

/** The node's fee on an earned amount, rounded down to the micro-USDC in the agent's favour. */
export const feeOf = (earnedMicro: bigint, feeBps: number): bigint => (earnedMicro * BigInt(feeBps)) / 10_000n;
