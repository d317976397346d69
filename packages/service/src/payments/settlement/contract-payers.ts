import { LRUCache } from 'lru-cache';
import type { HasChain } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/node-wallet.ts';
import { type SignedAuthorization, transferCall } from '../../chain/settlement-call.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import type { HasPaymentLimits } from '../onchain/payment-limits.ts';

/** Which payers are contract wallets, or keys that have a contract act for them (EIP-7702): their code runs at our cost. */
export interface ContractPayers {
  isContract(payment: SignedAuthorization & { readonly direction: 'in' | 'out' }): Promise<boolean>;
}

export interface HasContractPayers {
  readonly contractPayers: ContractPayers;
}

/** From the check of a payment until it is sent: a key may take on code at any time. */
const KNOWN_FOR_MS = 30_000;

/** Throws when the chain does not answer. What has code is asked about anew each time. */
export function createContractPayers({ usdc }: HasUsdc): ContractPayers {
  const keys = new LRUCache<string, true>({ max: 50_000, ttl: KNOWN_FOR_MS });
  return {
    async isContract({ authorization, direction }) {
      // The node's own wallet is a key.
      if (direction === 'out' || keys.has(authorization.from)) return false;
      const hasCode = await usdc.hasCode(authorization.from);
      if (!hasCode) keys.set(authorization.from, true);
      return hasCode;
    },
  };
}

/** The chain at the time of sending may differ a little from the one that the estimate saw. */
const withMargin = (gas: bigint): bigint => (gas * 5n) / 4n + 10_000n;

/**
 * The gas limit of a contract wallet's payment, by what it takes now: whatever its code does when it is sent, it burns no more. As
 * text: why it is not taken. Throws when the chain does not answer.
 */
export async function contractGas(
  { chain, usdc, wallet, paymentLimits }: HasChain & HasUsdc & HasWallet & HasPaymentLimits,
  payment: SignedAuthorization,
): Promise<bigint | string> {
  const estimate = await usdc.estimateGas({ from: wallet.address, to: chain.token, data: transferCall(payment) });
  if (typeof estimate === 'string') return estimate;
  const gas = withMargin(estimate);
  return gas <= paymentLimits.contractGas ? gas : 'the code of the paying wallet takes too much gas';
}

/** Whether a payment that the token would take also takes no more gas than the node gives it. Throws when the chain does not answer. */
export async function isWithinGas(
  ctx: HasChain & HasUsdc & HasWallet & HasPaymentLimits & HasContractPayers,
  payment: NewChainPayment,
): Promise<boolean> {
  return !(await ctx.contractPayers.isContract(payment)) || typeof (await contractGas(ctx, payment)) === 'bigint';
}
