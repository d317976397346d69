import { payableChain } from '@agent-network/chain/addresses';
import { formatUsdc } from '@agent-network/contracts/money';
import type { PaymentRequiredV1, PaymentRequiredV2, RequirementsV2 } from '@agent-network/contracts/payments/x402';
import { type ChainInfo, tokenKey } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { makeNonce } from '../schemes/exact/bound-nonce.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import { type Correction, commonTerms, type OfferedTerms, type Terms, tokenExtra } from './x402-scheme.ts';

/** Validity of a 402 answer's price and terms. */
export const OFFER_LIFETIME_S = 900;

/** The 402 answer in all its forms: payment terms (docs/spec.md, section 3), v1 body fields, v2 header. */
export interface Offer {
  readonly payment: { amount: string; currency: 'USDC'; network: string; recipient: string; memo: string };
  /** null: version 1 has no scheme that could pay it. */
  readonly v1: PaymentRequiredV1 | null;
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

/** Announces that clients may send their own purchase id (x402 v2 extension `payment-identifier`). */
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

/** Makes the offer, for payers on these networks. Nothing is stored: each entry carries a MAC by which `readOffer` recognises it. */
export function makeOffer(
  { secrets, x402Schemes }: Pick<NodeKeys, 'secrets'> & Pick<PaymentChecks, 'x402Schemes'>,
  chains: readonly [ChainInfo, ...ChainInfo[]],
  terms: Terms,
  error: string,
  correction?: Correction,
): Offer {
  const { resourceUrl: resource, description } = terms;
  const [chain] = chains;
  const offers = chains.map((each) => ({
    chain: each,
    // Only the network that was paid on has a channel to correct.
    offered: offeredOn(each, secrets, terms, each === chain ? correction : undefined),
  }));
  const acceptsV1 = offers.flatMap(({ chain: each, offered }) =>
    // Version 1 names a network and no token: its USDC.
    payableChain(each.chainId)?.isInV1 === false || tokenKey(each) !== ''
      ? []
      : x402Schemes.flatMap((scheme) => scheme.offerV1?.(each, terms, offered) ?? []),
  );
  return {
    payment: {
      amount: formatUsdc(terms.amountMicro),
      currency: 'USDC',
      network: chain.name,
      recipient: chain.wallet,
      memo: terms.memo,
    },
    v1: acceptsV1.length === 0 ? null : { x402Version: 1, accepts: acceptsV1 },
    v2: {
      x402Version: 2,
      error,
      resource: { url: resource, description, mimeType: 'application/json' },
      accepts: offers.flatMap(({ chain: each, offered }) =>
        x402Schemes.flatMap((scheme) => scheme.offer(each, terms, offered)),
      ),
      extensions: { 'payment-identifier': paymentIdentifier },
    },
  };
}

/** Terms of the purchase on one network. */
function offeredOn(chain: ChainInfo, secrets: Secrets, terms: Terms, correction: Correction | undefined): OfferedTerms {
  const code = secrets.authenticate('offer', offerParts(chain, terms));
  return {
    common: commonTerms(chain, terms.amountMicro),
    extra: {
      ...tokenExtra(chain),
      memo: terms.memo,
      offer: `${terms.expiresAtS}.${code}`,
      ...(terms.alternativeId === undefined ? {} : { agentId: terms.alternativeId }),
    },
    nonce: makeNonce(chain, secrets, terms),
    correction,
  };
}

/** Memo and amount of an offer echoed by a v2 client; null unless it is an unexpired offer of this node for this purchase. */
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
