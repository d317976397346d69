/** A block of the slowest chain that a node may be paid on. */
const BLOCK_S = 12;
/** Time until a withdrawal is seen and its claim is sent, behind others and with fees that have to rise. */
const CLAIM_S = 60;
/** Minimum for the limit of a call's duration: with less, calls would be useless. */
const LEAST_CALL_S = 60;

/** Seconds until a claim has this many confirmations, so that no reorg within the node's limits removes it. */
const claimS = (deepestBlocks: number): number => CLAIM_S + deepestBlocks * BLOCK_S;

/**
 * Maximum duration of a call paid by a channel, from the payer's withdrawal delay: half of it, less the time of a claim. So whenever the
 * payer begins to withdraw, the call has ended and is claimed by half of the delay; the other half is a reserve for an outage of the node
 * or its chain.
 */
export const longestCallS = (withdrawDelayS: number, deepestBlocks: number): number =>
  Math.floor(withdrawDelayS / 2) - claimS(deepestBlocks);

/** The shortest delay by which calls can be paid. */
export const leastDelayS = (deepestBlocks: number): number => 2 * (LEAST_CALL_S + claimS(deepestBlocks));
