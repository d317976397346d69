import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { encodeFunctionData, type Hex, parseAbi, prepareEncodeFunctionData } from 'viem';
import { type Authorization, splitSignature } from './authorization.ts';

export type SignedAuthorization = { authorization: Authorization; signature: string };

/** What is sent for a batch of authorizations. */
export interface SettlementCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

/** Base takes no transaction of more than 2^24 gas (16.78 million); this leaves room. */
export const MAX_TRANSACTION_GAS = 16_500_000n;
const GAS_BASE = 60_000n;
/** USDC takes about 90,000 behind its proxy, our test token 37,500 in a batch. */
const GAS_OF_KEY = 100_000n;
/** A contract wallet runs code of its own over a signature of its own length. */
const GAS_OF_CONTRACT = 500_000n;
/** One that goes alone has more room than it needs: there is nobody whose gas it could use up. */
const GAS_ALONE = 1_000_000n;

/** How much gas one transaction has for authorizations. */
export const BATCH_GAS = MAX_TRANSACTION_GAS - GAS_BASE;

/** Only a contract wallet can have a signature that is not of a key; one of a key may be a contract wallet's all the same. */
const isOfKey = ({ signature }: SignedAuthorization): boolean => splitSignature(signature) !== null;

export const gasOf = (signed: SignedAuthorization): bigint => (isOfKey(signed) ? GAS_OF_KEY : GAS_OF_CONTRACT);

/** Contract wallets last: one that burns gas can take it only from those that come after it. */
export const inCallOrder = <T extends SignedAuthorization>(batch: readonly T[]): T[] => [
  ...batch.filter(isOfKey),
  ...batch.filter((each) => !isOfKey(each)),
];

/** The two forms of USDC's function. Prepared, as viem else finds the form and hashes its signature anew for every payment. */
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

/** Calldata that submits one authorization. Contract wallets go through the overload that takes their signature as bytes. */
export function transferCall({ authorization: a, signature }: SignedAuthorization): Hex {
  const common = [a.from as Hex, a.to as Hex, a.valueMicro, a.validAfterS, a.validBeforeS, a.nonce as Hex] as const;
  const parts = splitSignature(signature);
  return parts
    ? encodeFunctionData({ ...byKey, args: [...common, parts.v, parts.r, parts.s] })
    : encodeFunctionData({ ...byContract, args: [...common, signature as Hex] });
}

/** Calls of one contract in one, each of which may fail by itself (Multicall3). */
export const aggregate = (target: Hex, calls: readonly Hex[]): Hex =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map((callData) => ({ target, allowFailure: true, callData }))],
  });

/** How much gas the transaction of a batch has. */
const gasOfCall = (batch: readonly SignedAuthorization[]): bigint =>
  GAS_BASE + (batch.length === 1 ? GAS_ALONE : batch.reduce((sum, each) => sum + gasOf(each), 0n));

/** As many of the first as one transaction of so much gas has room for; none when it has for none. */
export function thatFit<T extends SignedAuthorization>(batch: readonly T[], mostGas: bigint): T[] {
  for (let count = batch.length; count > 0; count--) {
    const first = batch.slice(0, count);
    if (gasOfCall(first) <= mostGas) return first;
  }
  return [];
}

/** What to send for a batch: a lone authorization goes straight to the token, several through Multicall3. */
export function settlementCall(token: Hex, batch: readonly SignedAuthorization[]): SettlementCall {
  const calls = batch.map(transferCall);
  const [only] = calls;
  const gas = gasOfCall(batch);
  if (only !== undefined && calls.length === 1) return { to: token, data: only, gas };
  return { to: MULTICALL3_ADDRESS as Hex, data: aggregate(token, calls), gas };
}
