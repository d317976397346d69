import { hasProven } from '../../access/accounts/link-wallet.ts';
import type { HasChain } from '../../chain/chain-info.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { isAwaited } from '../onchain/awaited-refund-store.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { findFate } from '../onchain/find-fate.ts';
import type { HasSignatureChecker } from './check-signature.ts';

/**
 * Whether an authorization that is spent already pays for a purchase. The chain shows it to everybody, signature included, so to have
 * it proves nothing: it counts only for an account that has proven the paying wallet, or whose purchase the nonce is bound to, only if
 * that wallet signed exactly what is shown, and only if its money came here. Anybody else's is a deposit of the wallet that sent it (docs/decisions/0015-other-ways-in.md).
 */
export async function paysThoughSpent(
  ctx: HasDb & HasClock & HasUsdc & HasSignatureChecker,
  payment: NewChainPayment,
  isBound: boolean,
): Promise<boolean> {
  const { accountId, authorization } = payment;
  if (accountId === null || !(isBound || (await hasProven(ctx.db, accountId, authorization.from)))) return false;
  if (!(await ctx.signatureChecker.isGood(payment))) return false;
  return (await findFate(ctx, payment, ctx.clock.now()))?.kind === 'paid';
}

/**
 * Whether an authorization has a meaning already, and so is nobody's payment, spent or not: the node's own (refunds, bills and
 * withdrawals), and another node's refund, which belongs to whoever paid for the request.
 */
export const isSpokenFor = async (ctx: HasDb & HasChain, { authorization }: NewChainPayment): Promise<boolean> =>
  authorization.from === ctx.chain.wallet || (await isAwaited(ctx.db, ctx.chain.chainId, authorization));
