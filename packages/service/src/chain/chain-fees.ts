import { payableChain } from '@agent-network/chain/addresses';
import { maxOf, minOf } from '../lib/bigints.ts';
import { cachedFlight } from '../lib/concurrency/single-flight.ts';
import type { UsdcClient } from './usdc-client.ts';

/** The fees of a chain: its current gas price, cached briefly, within the chain's bounds. */
export interface ChainFees {
  /** Throws when the chain does not answer. */
  baseFeePerGas(): Promise<bigint>;
  /** Initial fees of a transaction. */
  current(): Promise<Fees>;
  /** Fees of a replacement under the same nonce; null when they would exceed the ceiling. */
  raised(before: Fees): Promise<Fees | null>;
  /** Gas of each byte of a transaction, beside that of its code; 0 where gas is only that of code. Throws when the chain does not answer. */
  dataGasPerByte(): Promise<bigint>;
}

const HOLDS_MS = 2000;

export function createChainFees(ctx: { readonly usdc: UsdcClient }, chainId: number): ChainFees {
  const bounds = feeBoundsOf(chainId);
  let known = { baseFeePerGas: 0n, readAtMs: Number.NEGATIVE_INFINITY };
  const baseFeePerGas = async () => {
    const nowMs = performance.now();
    if (nowMs - known.readAtMs > HOLDS_MS) known = { baseFeePerGas: await ctx.usdc.baseFeePerGas(), readAtMs: nowMs };
    return known.baseFeePerGas;
  };
  const dataGasPerByte = cachedFlight(HOLDS_MS, () => readDataGas(ctx, payableChain(chainId)?.gasPricesAt));
  return {
    baseFeePerGas,
    dataGasPerByte,
    current: async () => firstFees(await baseFeePerGas(), bounds),
    raised: async (before) => raisedFees(before, await baseFeePerGas(), bounds),
  };
}

/**
 * Arbitrum divides what a transaction's data costs on Ethereum by its own base fee and counts the result as gas. Assumed here: the data does not
 * get smaller by compression; the base fee is the least that there can be, as it may have fallen when a block takes the transaction; and
 * Ethereum's price, which moves slowly, at most doubles until then. Gas that is not used is not paid. A retry reads the prices again.
 */
async function readDataGas({ usdc }: { readonly usdc: UsdcClient }, pricesAt: string | undefined): Promise<bigint> {
  const prices = pricesAt === undefined ? null : await usdc.dataPrices(pricesAt);
  if (prices === null || prices.gasWei === 0n) return 0n;
  const { byteWei, gasWei } = prices;
  return (2n * byteWei + gasWei - 1n) / gasWei;
}

/** Bytes of a transaction beside its call: nonce, fees, addresses, signature, and 140 that Arbitrum adds to each. */
const BYTES_AROUND = 300n;

/** The call of a transaction with the gas of its data in its limit. */
export async function withDataGas<C extends { readonly data: string; readonly gas: bigint }>(
  { fees }: { readonly fees: ChainFees },
  call: C,
): Promise<C> {
  const bytes = BigInt(call.data.length) / 2n + BYTES_AROUND;
  return { ...call, gas: call.gas + bytes * (await fees.dataGasPerByte()) };
}

/** A call has at most one byte for so much gas of its code: a claim of vouchers has the most. */
const CODE_GAS_OF_BYTE = 100n;

/** Maximum price of a unit of gas that code uses, including its share of the data. */
export async function priceOfGas({ fees }: { readonly fees: ChainFees }): Promise<bigint> {
  const [{ maxFeePerGas }, perByte] = await Promise.all([fees.current(), fees.dataGasPerByte()]);
  return (maxFeePerGas * (CODE_GAS_OF_BYTE + perByte)) / CODE_GAS_OF_BYTE;
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
