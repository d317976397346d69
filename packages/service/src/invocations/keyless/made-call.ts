import type { ChainPayment, NewChainPayment } from '../../payments/onchain/chain-payment.ts';
import { type AuthorizeContext, echoesOffer, isFreshlySigned } from '../../payments/x402/authorize-payment.ts';
import type { HasChannels } from '../../payments/x402/channels/channels.ts';
import { isPrivateVoucher } from '../../payments/x402/channels/private-voucher.ts';
import { isVoucher, payingWallet, type Shown, type ShownPayment } from '../../payments/x402/payment-header.ts';
import type { Due } from '../../payments/x402/payment-required.ts';
import { isResultToken } from '../result-token.ts';
import type { Invoked } from '../start/invoke-agent.ts';

/** By what a caller without an API key can show that it made a call. */
export interface ShownProof {
  readonly shown: Shown | null;
  /** True when the node itself put the offer around the payment: it shows nothing then. */
  readonly isOfferLent?: boolean | undefined;
  readonly resultToken: string | null;
  /** The wallet that has signed in with this call (`sign-in-with-x`); lower case. */
  readonly signedIn: string | null;
}

/**
 * True if a caller who shows the payment of a request again has made that request. A settled authorization and its signature stand in a
 * transaction that everybody can read, and a body may be guessed, so neither counts. What counts is known to the payer and this node
 * alone: the offer that the payment answers (x402 version 2 echoes it), the request's token, the wallet's sign-in, another good payment of
 * the wallet, which is not public while it is unspent, or a good voucher, which is not before it is claimed.
 */
export async function hasMadeCall(
  ctx: AuthorizeContext & HasChannels,
  { shown, isOfferLent, resultToken, signedIn }: ShownProof,
  { invocation, payment, due }: Pick<Invoked, 'invocation' | 'payment'> & { readonly due: Due },
): Promise<boolean> {
  if (resultToken !== null && isResultToken(ctx, invocation.id, resultToken)) return true;
  if (!shown) return false;
  // The request is this wallet's: its fingerprint has the wallet.
  if (signedIn === payingWallet(shown)) return true;
  if (!isOfferLent && echoesOffer(ctx, shown, due, invocation.id)) return true;
  if (isVoucher(shown)) return isPrivateVoucher(ctx, shown);
  return payment !== null && isAnotherPayment(ctx, shown, payment);
}

/**
 * True if a payment is another good one of the wallet of `payment`, and unspent: the wallet alone can show it. It is signed for the price of
 * now, which may differ.
 */
export async function isAnotherPayment(
  ctx: AuthorizeContext,
  shown: ShownPayment,
  payment: NewChainPayment | ChainPayment,
): Promise<boolean> {
  const { from, nonce } = payment.authorization;
  if (shown.authorization.from !== from || shown.authorization.nonce === nonce) return false;
  return isFreshlySigned(ctx, shown);
}
