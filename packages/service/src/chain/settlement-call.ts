import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { encodeFunctionData, type Hex, parseAbi, prepareEncodeFunctionData } from 'viem';
import { SETTLEMENT_CONTRACT } from './channels/channel-calls.ts';
import { type Authorization, splitSignature } from './keys/authorization.ts';

export type SignedAuthorization = {
  authorization: Authorization;
  signature: string;
  /** Calldata of a deposit into a channel, which the settlement contract takes; otherwise the token takes the authorization itself. */
  depositCall?: string | null;
};

/** A call of one contract. */
export interface ContractCall {
  readonly target: Hex;
  readonly callData: Hex;
}

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
/**
 * Gas per deposit into a channel. Measured with our contracts and test token: 142,730 alone, 104,910 each among 20 (the deployed contracts
 * took 136,551 with that token). USDC is behind a proxy and called four times, which takes some 45,000 more.
 */
const GAS_OF_DEPOSIT = 230_000n;

/** Gas available for authorizations in one transaction. */
export const BATCH_GAS = MAX_TRANSACTION_GAS - GAS_BASE;

/** Gas allowed for a payment of a key in a batch. */
export const gasInBatch = ({ depositCall }: SignedAuthorization): bigint => (depositCall ? GAS_OF_DEPOSIT : GAS_OF_KEY);

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

/** The call that moves the money of a payment: of the token, or for a deposit of the settlement contract. */
export const paymentCall = (token: string, signed: SignedAuthorization): ContractCall =>
  signed.depositCall
    ? { target: SETTLEMENT_CONTRACT, callData: signed.depositCall as Hex }
    : { target: token as Hex, callData: transferCall(signed) };

/** Combines calls into one in which each may fail by itself (Multicall3). */
export const aggregate = (calls: readonly ContractCall[]): Hex =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map((call) => ({ ...call, allowFailure: true }))],
  });

/** Gas limit of a batch of payments signed by keys. */
export const gasOfCall = (batch: readonly SignedAuthorization[]): bigint =>
  batch.reduce((sum, each) => sum + gasInBatch(each), GAS_BASE);

/** Transactions that one key must be able to pay for before a payment is taken. */
const TRANSACTIONS_TO_TAKE = 10n;

/** Gas of the payment of a key that is sent alone. */
export const GAS_OF_ONE = GAS_BASE + GAS_OF_KEY;

/** Gas that a key must be able to pay for before a payment is taken: its own, that of its refund, and that of others taken at the same time. */
export const gasToTake = (gasOfPayment: bigint): bigint => TRANSACTIONS_TO_TAKE * gasOfPayment;

/** The longest prefix of the batch that fits into `maxGas`; empty when nothing fits. */
export function fitting<T extends SignedAuthorization>(batch: readonly T[], maxGas: bigint): T[] {
  let left = maxGas - GAS_BASE;
  const beyond = batch.findIndex((each) => {
    left -= gasInBatch(each);
    return left < 0n;
  });
  return beyond === -1 ? [...batch] : batch.slice(0, beyond);
}

/**
 * Builds the call for a batch: a single payment goes straight to its contract, several through Multicall3. `gas` overrides the default
 * limit, which is that of the same payments by keys.
 */
export function settlementCall(
  token: Hex,
  batch: readonly SignedAuthorization[],
  gas = gasOfCall(batch),
): SettlementCall {
  const calls = batch.map((signed) => paymentCall(token, signed));
  const [only] = calls;
  if (only !== undefined && calls.length === 1) return { to: only.target, data: only.callData, gas };
  return { to: MULTICALL3_ADDRESS as Hex, data: aggregate(calls), gas };
}
