import { hasProven } from '../../access/accounts/link-wallet.ts';
import { KEYLESS } from '../../access/caller/keyless-caller.ts';
import { type HasChain, isOwnWallet } from '../../chain/chain-info.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { isAwaited } from '../onchain/awaited-refund-store.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { findFate, SEARCH_FOR_REQUEST_MS } from '../onchain/find-fate.ts';
import type { HasSignatureChecker } from './check-signature.ts';

/**
 * True if a spent authorization pays for a purchase. The chain publishes it, signature included, so having it proves nothing. It counts
 * only for an account that has proven the paying wallet or whose purchase the nonce is bound to, only if that wallet signed exactly the
 * shown authorization, and only if its money came here. Otherwise the transfer is a deposit of the sending wallet
 * (docs/decisions/0015-other-ways-in.md). Never for a caller without an API key: their terms are anybody's. Throws when the chain does not
 * tell in time.
 */
export async function paysThoughSpent(
  ctx: HasDb & HasClock & HasUsdc & HasSignatureChecker,
  payment: NewChainPayment,
  isBound: boolean,
): Promise<boolean> {
  const { accountId, authorization } = payment;
  if (accountId === null || accountId === KEYLESS) return false;
  if (!(isBound || (await hasProven(ctx.db, accountId, authorization.from)))) return false;
  if (!(await ctx.signatureChecker.isGood(payment))) return false;
  return (await findFate(ctx, payment, ctx.clock.now(), SEARCH_FOR_REQUEST_MS))?.kind === 'paid';
}

/**
 * True if an authorization is reserved and cannot be a payment, spent or not: the node's own (refunds, bills, withdrawals, anything of a
 * former wallet, whose USDC the books have already), or another node's refund, which belongs to the payer of the request.
 */
export const isSpokenFor = async (ctx: HasDb & HasChain, { authorization }: NewChainPayment): Promise<boolean> =>
  isOwnWallet(ctx.chain, authorization.from) || (await isAwaited(ctx.db, ctx.chain.chainId, authorization));
