import { formatUsdc } from '@agent-network/contracts/money';
import {
  type Eip3009Payload,
  PaymentPayloadV1,
  PaymentPayloadV2,
  type PaymentRequiredV1,
  type RequirementsV2,
} from '@agent-network/contracts/payments/x402';
import type { Authorization } from '../../../chain/keys/authorization.ts';
import { authorizationKey } from '../../../chain/used-authorizations.ts';
import { invalid } from '../../../lib/app-error.ts';
import { problemText } from '../../../lib/json/problem-text.ts';
import { type HeaderName, malformed, type PresentedPayment, unread } from '../../x402/presented-payment.ts';
import { commonTerms, type OfferedTerms, type Terms, tokenExtra, type X402Scheme } from '../../x402/x402-scheme.ts';

/** One transfer, signed by its payer (EIP-3009); both x402 versions in one form. */
export interface PresentedTransfer extends PresentedPayment {
  readonly scheme: 'exact';
  /** The scheme that the client names: another one is refused with its code. */
  readonly namedScheme: string;
  readonly authorization: Authorization;
  readonly signature: string;
  /** True if the signature came wrapped for a wallet that may not be deployed yet (ERC-6492). */
  readonly isWrapped?: boolean;
}

export const isTransfer = (shown: PresentedPayment): shown is PresentedTransfer => shown.scheme === 'exact';

/** Scheme `exact` of x402: one transfer for one purchase. */
export const exactOnWire: X402Scheme<PresentedTransfer> = {
  id: 'exact',
  offer: (_chain, terms, offered) =>
    terms.channels === 'only' ? [] : [entry(offered.common, extraOf(terms, offered))],
  offerV1: (chain, terms, offered) => (terms.channels === 'only' ? [] : [entryV1(chain.name, terms, offered)]),
  listed: (chain, amountMicro) => [entry(commonTerms(chain, amountMicro), tokenExtra(chain))],
  read(header, payload) {
    const { authorization, permit2Authorization } = unread(payload).payload ?? {};
    if (authorization === undefined && permit2Authorization !== undefined)
      throw invalid(`${header}.payload`, 'is for Permit2: sign an EIP-3009 TransferWithAuthorization of the token');
    return unread(payload).x402Version === 1 ? readV1(header, payload) : readV2(header, payload);
  },
  signedPart: ({ authorization }) => authorization,
  turnKey: ({ authorization }) => authorizationKey(authorization),
};

/** `upfront` has stock clients prefer a channel when they know channels. */
const entry = (common: OfferedTerms['common'], extra: OfferedTerms['extra']): RequirementsV2 => ({
  ...{ scheme: 'exact', ...common },
  extra: { ...extra, paymentFlow: 'upfront' },
});

function entryV1(network: string, terms: Terms, offered: OfferedTerms): PaymentRequiredV1['accepts'][number] {
  const { amount: maxAmountRequired, ...common } = offered.common;
  const { resourceUrl: resource, description } = terms;
  return {
    ...{ scheme: 'exact', ...common, network, maxAmountRequired },
    ...{ resource, description, mimeType: 'application/json', extra: extraOf(terms, offered) },
  };
}

const extraOf = ({ minAmountMicro }: Terms, { extra, nonce }: OfferedTerms) => ({
  ...extra,
  // Clients that do not know the token would ask a service what it takes.
  ...{ primaryType: 'TransferWithAuthorization', nonce },
  ...(minAmountMicro === undefined ? {} : { minAmount: formatUsdc(minAmountMicro) }),
});

function readV2(header: HeaderName, payload: unknown): PresentedTransfer {
  const parsed = PaymentPayloadV2.safeParse(payload, { error: problemText });
  if (!parsed.success) throw malformed(header, parsed.error);
  const { accepted, payload: signed, extensions } = parsed.data;
  const { scheme: namedScheme, network } = accepted;
  const identifier = extensions?.['payment-identifier']?.info?.id ?? null;
  return { scheme: 'exact', namedScheme, version: 2, network, accepted, identifier, ...toAuthorization(signed) };
}

function readV1(header: HeaderName, payload: unknown): PresentedTransfer {
  const parsed = PaymentPayloadV1.safeParse(payload, { error: problemText });
  if (!parsed.success) throw malformed(header, parsed.error);
  const { scheme: namedScheme, network, payload: signed } = parsed.data;
  const unbound = { accepted: null, identifier: null };
  return { scheme: 'exact', namedScheme, version: 1, network, ...unbound, ...toAuthorization(signed) };
}

function toAuthorization({ authorization, signature }: Eip3009Payload) {
  const from = authorization.from.toLowerCase();
  return {
    payer: from,
    signature: signature.toLowerCase(),
    authorization: {
      from,
      to: authorization.to.toLowerCase(),
      valueMicro: BigInt(authorization.value),
      validAfterS: BigInt(authorization.validAfter),
      validBeforeS: BigInt(authorization.validBefore),
      nonce: authorization.nonce.toLowerCase(),
    },
  };
}
