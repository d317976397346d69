import { maxOf } from '../lib/bigints.ts';

/** Fees of a transaction per unit of gas, in wei (EIP-1559). */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

const TIP = 1_000_000n;

/** Fee ceiling: above it the node waits instead of sending. A full batch at this fee costs a third of an ether. */
export const MAX_FEE_PER_GAS = 20_000_000_000n;

/** Initial fees. They leave room for the base fee to double before a block takes the transaction. */
export function firstFees(baseFeePerGas: bigint): Fees {
  const wanted = baseFeePerGas * 2n + TIP;
  return { maxFeePerGas: wanted < MAX_FEE_PER_GAS ? wanted : MAX_FEE_PER_GAS, maxPriorityFeePerGas: TIP };
}

/** Adds an eighth, rounded up: nodes accept a replacement only when both fees are at least a tenth higher. */
const raised = (fee: bigint): bigint => fee + fee / 8n + 1n;

/** Fees of a replacement under the same nonce; null when they would exceed the ceiling. */
export function raisedFees(before: Fees, baseFeePerGas: bigint): Fees | null {
  const least = raised(before.maxFeePerGas);
  if (least > MAX_FEE_PER_GAS) return null;
  const maxPriorityFeePerGas = raised(before.maxPriorityFeePerGas);
  const wanted = maxOf(least, baseFeePerGas * 2n + maxPriorityFeePerGas);
  return { maxFeePerGas: wanted < MAX_FEE_PER_GAS ? wanted : MAX_FEE_PER_GAS, maxPriorityFeePerGas };
}
