import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { encodeFunctionData, type Hex, parseAbi, prepareEncodeFunctionData } from 'viem';
import { type Authorization, splitSignature } from './authorization.ts';

export type SignedAuthorization = { authorization: Authorization; signature: string };

/** The contract call that submits a batch of authorizations. */
export interface SettlementCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

/** Base takes no transaction of more than 2^24 gas (16.78 million); this leaves room. */
export const MAX_TRANSACTION_GAS = 16_500_000n;
const GAS_BASE = 60_000n;
/** Gas per key signature: USDC takes about 90,000 behind its proxy, our test token 37,500 in a batch. */
const GAS_OF_KEY = 100_000n;

/** Gas available for authorizations in one transaction. */
export const BATCH_GAS = MAX_TRANSACTION_GAS - GAS_BASE;

/** Maximum number of payments signed by keys in one transaction. */
export const MAX_IN_BATCH = Number(BATCH_GAS / GAS_OF_KEY);

/**
 * The two overloads of USDC's function. Prepared, because viem otherwise looks up the overload and hashes its signature for every payment.
 */
const byKey = prepareEncodeFunctionData({
  abi: parseAbi([
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  ]),
});
const byContract = prepareEncodeFunctionData({
  abi: parseAbi([
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  ]),
});

/** Calldata that submits one authorization. Contract wallets use the overload that takes their signature as bytes. */
export function transferCall({ authorization: a, signature }: SignedAuthorization): Hex {
  const common = [a.from as Hex, a.to as Hex, a.valueMicro, a.validAfterS, a.validBeforeS, a.nonce as Hex] as const;
  const parts = splitSignature(signature);
  return parts
    ? encodeFunctionData({ ...byKey, args: [...common, parts.v, parts.r, parts.s] })
    : encodeFunctionData({ ...byContract, args: [...common, signature as Hex] });
}

/** Combines calls of one contract into one in which each may fail by itself (Multicall3). */
export const aggregate = (target: Hex, calls: readonly Hex[]): Hex =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map((callData) => ({ target, allowFailure: true, callData }))],
  });

/** Gas limit of a batch of payments signed by keys. */
const gasOfCall = (count: number): bigint => GAS_BASE + BigInt(count) * GAS_OF_KEY;

/** The longest prefix of the batch whose gas fits into `mostGas`; empty when nothing fits. */
export function thatFit<T>(batch: readonly T[], mostGas: bigint): T[] {
  const room = (mostGas - GAS_BASE) / GAS_OF_KEY;
  return room <= 0n ? [] : batch.slice(0, Number(room));
}

/**
 * Builds the call for a batch: a single authorization goes straight to the token, several through Multicall3. `gas` overrides the default
 * limit, which is that of the same number of keys.
 */
export function settlementCall(
  token: Hex,
  batch: readonly SignedAuthorization[],
  gas = gasOfCall(batch.length),
): SettlementCall {
  const calls = batch.map(transferCall);
  const [only] = calls;
  if (only !== undefined && calls.length === 1) return { to: token, data: only, gas };
  return { to: MULTICALL3_ADDRESS as Hex, data: aggregate(token, calls), gas };
}
