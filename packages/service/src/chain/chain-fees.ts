import { type Fees, firstFees } from './fees.ts';
import type { HasUsdc } from './usdc-client.ts';

/** The chain's current gas price, cached briefly. */
export interface ChainFees {
  /** Throws when the chain does not answer. */
  baseFeePerGas(): Promise<bigint>;
  current(): Promise<Fees>;
}

export interface HasFees {
  readonly fees: ChainFees;
}

const HOLDS_MS = 2000;

export function createChainFees(ctx: HasUsdc): ChainFees {
  let known = { baseFeePerGas: 0n, readAtMs: Number.NEGATIVE_INFINITY };
  const baseFeePerGas = async () => {
    const nowMs = performance.now();
    if (nowMs - known.readAtMs > HOLDS_MS) known = { baseFeePerGas: await ctx.usdc.baseFeePerGas(), readAtMs: nowMs };
    return known.baseFeePerGas;
  };
  return { baseFeePerGas, current: async () => firstFees(await baseFeePerGas()) };
}
