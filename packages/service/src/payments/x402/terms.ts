import { formatUsdc } from '@agent-network/contracts/money';
import type { PaymentRequiredV1, PaymentRequiredV2, RequirementsV2 } from '@agent-network/contracts/payments/x402';
import type { ChainInfo } from '../../chain/chain-info.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { makeNonce } from './bound-nonce.ts';

/** What a payment is for, and for how much. */
export interface Terms {
  readonly purpose: 'invocation' | 'deposit';
  /** The id that the paid thing will have: the spec's `memo`. */
  readonly memo: string;
  /** What is bought: an agent's or a treasury's id. Together with the account it says where the offer is good. */
  readonly target: string;
  /** The agent that is paid in place of the one asked for, so that the payer knows; part of `target` as well. */
  readonly alternativeId?: string | undefined;
  readonly accountId: string;
  readonly amountMicro: bigint;
  /** The least that is taken on chain for such a thing. */
  readonly minAmountMicro?: bigint;
  readonly resourceUrl: string;
  readonly description: string;
  readonly expiresAtS: number;
}

/** How long a payer has from signing to settlement. */
export const PAYMENT_WINDOW_S = 300;
/** How long price and terms of a 402 answer hold. */
export const OFFER_LIFETIME_S = 900;

/** The 402 answer in all its forms: the spec's terms, the v1 body fields, the v2 header. */
export interface Offer {
  readonly payment: { amount: string; currency: 'USDC'; network: string; recipient: string; memo: string };
  readonly v1: PaymentRequiredV1;
  readonly v2: PaymentRequiredV2;
}

const offerParts = (chain: ChainInfo, terms: Omit<Terms, 'resourceUrl' | 'description'>) => [
  terms.purpose,
  terms.memo,
  terms.target,
  terms.accountId,
  terms.amountMicro.toString(),
  terms.expiresAtS.toString(),
  chain.caip2,
  chain.token,
  chain.wallet,
];

/** Tells clients that they may name a purchase themselves (x402 v2 extension `payment-identifier`). */
const paymentIdentifier = {
  info: { required: false },
  schema: {
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
};

/** Makes the offer. Nothing is stored: the offer carries a code by which `readOffer` knows it again. */
export function makeOffer(chain: ChainInfo, secrets: Secrets, terms: Terms, error: string): Offer {
  const code = secrets.authenticate('offer', offerParts(chain, terms));
  const amount = terms.amountMicro.toString();
  const { resourceUrl: resource, description } = terms;
  const extra = {
    name: chain.tokenName,
    version: chain.tokenVersion,
    memo: terms.memo,
    offer: `${terms.expiresAtS}.${code}`,
    nonce: makeNonce(chain, secrets, terms),
    ...(terms.minAmountMicro === undefined ? {} : { minAmount: formatUsdc(terms.minAmountMicro) }),
    ...(terms.alternativeId === undefined ? {} : { agentId: terms.alternativeId }),
  };
  const common = {
    scheme: 'exact' as const,
    payTo: chain.wallet,
    asset: chain.token,
    maxTimeoutSeconds: PAYMENT_WINDOW_S,
  };
  return {
    payment: {
      amount: formatUsdc(terms.amountMicro),
      currency: 'USDC',
      network: chain.name,
      recipient: chain.wallet,
      memo: terms.memo,
    },
    v1: {
      x402Version: 1,
      accepts: [
        {
          ...common,
          network: chain.name,
          maxAmountRequired: amount,
          resource,
          description,
          mimeType: 'application/json',
          extra,
        },
      ],
    },
    v2: {
      x402Version: 2,
      error,
      resource: { url: resource, description, mimeType: 'application/json' },
      accepts: [{ ...common, network: chain.caip2, amount, extra: { ...extra, paymentFlow: 'upfront' } }],
      extensions: { 'payment-identifier': paymentIdentifier },
    },
  };
}

/** The memo and amount of an offer that a v2 client echoes; null when it is not one of ours for this purchase, or is too old. */
export function readOffer(
  chain: ChainInfo,
  secrets: Secrets,
  accepted: RequirementsV2,
  expected: Pick<Terms, 'purpose' | 'target' | 'accountId'> & { nowS: number },
): { memo: string; amountMicro: bigint } | null {
  const { memo, offer } = accepted.extra;
  if (typeof memo !== 'string' || typeof offer !== 'string') return null;
  const [expiresText = '', code = ''] = offer.split('.');
  const expiresAtS = Number(expiresText);
  const amountMicro = BigInt(accepted.amount);
  const isOurs =
    accepted.asset.toLowerCase() === chain.token &&
    accepted.payTo.toLowerCase() === chain.wallet &&
    secrets.isAuthentic('offer', offerParts(chain, { ...expected, memo, amountMicro, expiresAtS }), code);
  return isOurs && expected.nowS < expiresAtS ? { memo, amountMicro } : null;
}
