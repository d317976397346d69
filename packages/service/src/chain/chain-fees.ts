import { payableChain } from '@agent-network/chain/addresses';
import { maxOf, minOf } from '../lib/bigints.ts';
import type { HasUsdc } from './usdc-client.ts';

/** The fees of a chain: its current gas price, cached briefly, within the chain's bounds. */
export interface ChainFees {
  /** Throws when the chain does not answer. */
  baseFeePerGas(): Promise<bigint>;
  /** Initial fees of a transaction. */
  current(): Promise<Fees>;
  /** Fees of a replacement under the same nonce; null when they would exceed the ceiling. */
  raised(before: Fees): Promise<Fees | null>;
}

export interface HasFees {
  readonly fees: ChainFees;
}

const HOLDS_MS = 2000;

export function createChainFees(ctx: HasUsdc, chainId: number): ChainFees {
  const bounds = feeBoundsOf(chainId);
  let known = { baseFeePerGas: 0n, readAtMs: Number.NEGATIVE_INFINITY };
  const baseFeePerGas = async () => {
    const nowMs = performance.now();
    if (nowMs - known.readAtMs > HOLDS_MS) known = { baseFeePerGas: await ctx.usdc.baseFeePerGas(), readAtMs: nowMs };
    return known.baseFeePerGas;
  };
  return {
    baseFeePerGas,
    current: async () => firstFees(await baseFeePerGas(), bounds),
    raised: async (before) => raisedFees(before, await baseFeePerGas(), bounds),
  };
}

/** Fees of a transaction per unit of gas, in wei (EIP-1559). */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Initial tip, and the ceiling of all fees: above it the node waits instead of sending. Wei per unit of gas. */
export interface FeeBounds {
  readonly tip: bigint;
  readonly max: bigint;
}

/** At this ceiling a full batch costs a third of an ether. */
const USUAL_FEES_GWEI = { tip: 0.001, max: 20 };

export function feeBoundsOf(chainId: number): FeeBounds {
  const { tip, max } = payableChain(chainId)?.feesGwei ?? USUAL_FEES_GWEI;
  return { tip: BigInt(tip * 1e9), max: BigInt(max * 1e9) };
}

/** Initial fees. They leave room for the base fee to double before a block takes the transaction. */
export const firstFees = (baseFeePerGas: bigint, { tip, max }: FeeBounds): Fees => ({
  maxFeePerGas: minOf(baseFeePerGas * 2n + tip, max),
  maxPriorityFeePerGas: tip,
});

/** Adds an eighth, rounded up: nodes accept a replacement only when both fees are at least a tenth higher. */
const raised = (fee: bigint): bigint => fee + fee / 8n + 1n;

export function raisedFees(before: Fees, baseFeePerGas: bigint, { max }: FeeBounds): Fees | null {
  const least = raised(before.maxFeePerGas);
  if (least > max) return null;
  const maxPriorityFeePerGas = raised(before.maxPriorityFeePerGas);
  const wanted = maxOf(least, baseFeePerGas * 2n + maxPriorityFeePerGas);
  return { maxFeePerGas: minOf(wanted, max), maxPriorityFeePerGas };
}
