/** The part of what agents earn that the node keeps, in hundredths of a percent. */
export interface HasPlatformFee {
  readonly platformFeeBps: number;
}

/** What the node keeps of an amount that an agent earned, rounded down to the micro-USDC: in the agent's favour. */
export const feeOf = (earnedMicro: bigint, feeBps: number): bigint => (earnedMicro * BigInt(feeBps)) / 10_000n;
