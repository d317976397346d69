import { type AuthorizeContext, echoesOffer, isFreshlySigned } from '../../payments/x402/authorize-payment.ts';
import type { HasChannels } from '../../payments/x402/channels/channels.ts';
import { isCurrentVoucher, isPrivateVoucher } from '../../payments/x402/channels/private-voucher.ts';
import { isVoucher, payingWallet, type Shown } from '../../payments/x402/payment-header.ts';
import { isResultToken } from '../result-token.ts';
import type { Invoked } from '../start/replay.ts';

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
  { invocation, due }: Pick<Invoked, 'invocation' | 'due'>,
): Promise<boolean> {
  if (resultToken !== null && isResultToken(ctx, invocation.id, resultToken)) return true;
  if (!shown) return false;
  // The request is this wallet's: its fingerprint has the wallet.
  if (signedIn === payingWallet(shown)) return true;
  return (!isOfferLent && echoesOffer(ctx, shown, due, invocation.id)) || isOfWallet(ctx, shown);
}

/**
 * True if only its wallet can show a payment: a good one that nobody has collected, for whatever price, as that may have changed, or a good
 * voucher that is in no claim. The chain publishes all others.
 */
const isOfWallet = (ctx: AuthorizeContext & HasChannels, shown: Shown): Promise<boolean> =>
  isVoucher(shown) ? isPrivateVoucher(ctx, shown) : isFreshlySigned(ctx, shown);

/**
 * The same for a repetition, which finds the newest purchase of its wallet and body: an old voucher, as a proxy's log may have it, would read
 * what was bought since. Who lost an answer signs no less than the channel is charged, or is told the sum (402) and signs that.
 */
export const isRepetitionOfWallet = async (ctx: AuthorizeContext & HasChannels, shown: Shown): Promise<boolean> =>
  (await isOfWallet(ctx, shown)) && (!isVoucher(shown) || (await isCurrentVoucher(ctx, shown)));
