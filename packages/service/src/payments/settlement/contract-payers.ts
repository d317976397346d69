import type { ChainAccess } from '../../chain/chain-access.ts';
import { withDataGas } from '../../chain/chain-fees.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { gasOfCall, paymentCall, type SignedAuthorization } from '../../chain/settlement-call.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import type { ChainDirection, NewChainPayment } from '../chain-outbox/chain-payment.ts';

/** Detects payers with code: contract wallets, or keys that delegate to a contract (EIP-7702). Their code runs at our cost. */
export interface ContractPayers {
  isContract(payment: SignedAuthorization & { readonly direction: ChainDirection }): Promise<boolean>;
}

/** Covers the time from a payment's check to its sending: a key may get code at any time. */
const KNOWN_FOR_MS = 30_000;

/** Caches keys only; addresses with code are checked each time. Throws when the chain does not answer. */
export function createContractPayers({ usdc }: Pick<ChainAccess, 'usdc'>): ContractPayers {
  const keys = createBoundedCache<true>(50_000, KNOWN_FOR_MS);
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

/** Adds a margin: the state at sending may differ slightly from the estimate's. */
const withMargin = (gas: bigint): bigint => (gas * 5n) / 4n + 10_000n;

/**
 * Gas limit of a contract wallet's payment, from an estimate: its code can't burn more when it is sent. A text is the reason for a refusal.
 * Throws when the chain does not answer.
 */
export async function contractGas(
  ctx: ChainAccess & Pick<NodeKeys, 'wallet'> & PaymentConditions,
  payment: SignedAuthorization,
): Promise<bigint | string> {
  const { chain, usdc, wallet, paymentLimits } = ctx;
  const { target: to, callData: data } = paymentCall(chain.token, payment);
  const estimate = await usdc.estimateGas({ from: wallet.address, to, data });
  if (typeof estimate === 'string') return estimate;
  const gas = withMargin(estimate);
  // The chain's estimate has the gas of the data in it, for which the wallet is not to blame.
  const limit = await withDataGas(ctx, { data, gas: paymentLimits.contractGas });
  return gas <= limit.gas ? gas : 'the code of the paying wallet uses too much gas';
}

/** Gas limit that a payment is sent with; null if it needs more than the node allows for it. Throws when the chain does not answer. */
export async function gasWithinLimit(
  ctx: ChainAccess & Pick<NodeKeys, 'wallet'> & PaymentConditions & { readonly contractPayers: ContractPayers },
  payment: NewChainPayment,
): Promise<bigint | null> {
  if (!(await ctx.contractPayers.isContract(payment))) return gasOfCall([payment]);
  const gas = await contractGas(ctx, payment);
  return typeof gas === 'bigint' ? gas : null;
}
