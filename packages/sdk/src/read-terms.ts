import { formatUsdc, type Micro } from '@agent-network/contracts/money';
import { isPaymentRequiredV2, type PaymentRequirementsV2 } from '@x402/core/schemas';
import type { PaymentRequired } from '@x402/core/types';
import { PaymentRefusedError } from './payment-refused-error.ts';

/** A signature that stays usable longer than this is more than a payment for one call. */
const longestValidityS = 3_600;

/** The terms of a 402, in version 2. */
export type Terms = PaymentRequired & { readonly accepts: readonly PaymentRequirementsV2[] };

/** Limits of the payments that may be signed. */
export interface PaymentLimits {
  readonly tokens: Readonly<Record<string, string>>;
  readonly capMicro: Micro;
  /** Maximum of all payments together; null: no limit. */
  readonly totalMicro: Micro | null;
}

/** Decodes the header: base64 or base64url of JSON, with or without padding, or plain JSON. */
function decode(header: string): unknown {
  const text = header.trim();
  if (text.startsWith('{')) return JSON.parse(text);
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

const decodeOrNull = (header: string): unknown => {
  try {
    return decode(header);
  } catch {
    return null;
  }
};

/** Reads terms as services write them. `url`: the address that answered, for terms that do not name their resource. */
export function readTerms(header: string, url?: string): Terms {
  const told = decodeOrNull(header);
  const isObject = typeof told === 'object' && told !== null;
  const terms: unknown = isObject && !('resource' in told) && url !== undefined ? { ...told, resource: { url } } : told;
  if (isPaymentRequiredV2(terms)) return terms as Terms;
  const offersNothing = isObject && 'accepts' in told && Array.isArray(told.accepts) && told.accepts.length === 0;
  throw new PaymentRefusedError(
    'malformed_terms',
    offersNothing
      ? 'The 402 answer offers nothing: `accepts` of its PAYMENT-REQUIRED header is empty. The service has to name a scheme'
      : 'The 402 answer has no readable PAYMENT-REQUIRED header (x402 version 2)',
  );
}

const isKnown = (offer: PaymentRequirementsV2, scheme: string, { tokens }: PaymentLimits): boolean =>
  offer.scheme === scheme &&
  offer.asset.toLowerCase() === tokens[offer.network]?.toLowerCase() &&
  (offer.extra?.assetTransferMethod ?? 'eip3009') === 'eip3009' &&
  /^\d{1,30}$/.test(offer.amount);

const isBrief = (offer: PaymentRequirementsV2) => offer.maxTimeoutSeconds <= longestValidityS;

/** The offers of one scheme that may be signed: network, token, validity and amount are within the limits. */
export const payableOffers = (
  { accepts }: Terms,
  scheme: string,
  limits: PaymentLimits,
): readonly PaymentRequirementsV2[] =>
  accepts.filter(
    (offer) => isKnown(offer, scheme, limits) && isBrief(offer) && BigInt(offer.amount) <= limits.capMicro,
  );

/** The cheapest offer of a scheme that may be signed. Throws `PaymentRefusedError` with the reason that stood last in the way. */
export function chooseOffer({ accepts }: Terms, scheme: string, limits: PaymentLimits): PaymentRequirementsV2 {
  const known = accepts.filter((offer) => isKnown(offer, scheme, limits));
  if (known.length === 0) throw new PaymentRefusedError('unknown_asset', 'No offer asks for a token that may be paid');
  const cheapest = known.filter(isBrief).sort((a, b) => (BigInt(a.amount) < BigInt(b.amount) ? -1 : 1))[0];
  if (!cheapest)
    throw new PaymentRefusedError('validity_too_long', 'Every offer wants a signature valid for over an hour');
  if (BigInt(cheapest.amount) > limits.capMicro)
    throw new PaymentRefusedError(
      'above_cap',
      `The call costs ${formatUsdc(BigInt(cheapest.amount))} USDC, and maxPerCall allows ${formatUsdc(limits.capMicro)}: nothing was paid`,
    );
  return cheapest;
}
