import { formatUsdc } from '@agent-network/contracts/money';
import {
  CHANNEL_SCHEME,
  type ChannelStateExtra,
  type PaymentRequiredV1,
  type PaymentRequiredV2,
  type RequirementsV2,
} from '@agent-network/contracts/payments/x402';
import type { ChainInfo } from '../../chain/chain-info.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { makeNonce } from './bound-nonce.ts';

/** Terms of a payment: purchase and price. */
export interface Terms {
  readonly purpose: 'invocation' | 'deposit';
  /** Id of the purchased thing: `memo` of the payment terms (docs/spec.md, section 3). */
  readonly memo: string;
  /** Id of the purchased agent or treasury. Together with the account it restricts the use of the offer. */
  readonly target: string;
  /** The alternative agent that is paid instead of the requested one, shown to the payer; also part of `target`. */
  readonly alternativeId?: string | undefined;
  readonly accountId: string;
  /** `asked`: the payer's client can pay by channel. `only`: this address takes nothing else. Absent: it has not said so. */
  readonly channels?: 'asked' | 'only';
  readonly amountMicro: bigint;
  /** Minimum amount accepted on chain for this purchase. */
  readonly minAmountMicro?: bigint;
  /** False: a channel cannot pay for it. */
  readonly takesChannel?: boolean;
  readonly resourceUrl: string;
  readonly description: string;
  readonly expiresAtS: number;
}

/** Time that a payer has from signing to settlement. */
export const PAYMENT_WINDOW_S = 300;
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

/** State that a payer's client needs to go on after a voucher for a wrong sum; told only to the holder of the channel's key. */
export interface Correction {
  readonly channelState: ChannelStateExtra;
  /** absent: the node has no voucher of the channel. */
  readonly voucherState?: { readonly signedMaxClaimable: string; readonly signature: string };
}

/** Makes the offer. Nothing is stored: the offer carries a MAC by which `readOffer` recognises it. */
export function makeOffer(
  chain: ChainInfo,
  secrets: Secrets,
  terms: Terms,
  error: string,
  correction?: Correction,
): Offer {
  const code = secrets.authenticate('offer', offerParts(chain, terms));
  const amount = terms.amountMicro.toString();
  const { resourceUrl: resource, description } = terms;
  const extra = {
    name: chain.tokenName,
    version: chain.tokenVersion,
    // Clients that do not know the token would ask a service what it takes.
    primaryType: 'TransferWithAuthorization',
    memo: terms.memo,
    offer: `${terms.expiresAtS}.${code}`,
    nonce: makeNonce(chain, secrets, terms),
    ...(terms.minAmountMicro === undefined ? {} : { minAmount: formatUsdc(terms.minAmountMicro) }),
    ...(terms.alternativeId === undefined ? {} : { agentId: terms.alternativeId }),
  };
  const common = {
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
    v1:
      terms.channels === 'only'
        ? null
        : {
            x402Version: 1,
            accepts: [
              {
                scheme: 'exact',
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
      // `upfront` of `exact` has stock clients prefer the channel when they know it.
      accepts: [
        ...(terms.channels === 'only'
          ? []
          : [
              { scheme: 'exact', ...common, network: chain.caip2, amount, extra: { ...extra, paymentFlow: 'upfront' } },
            ]),
        ...channelTerms(chain, terms, { ...common, amount }, extra, correction),
      ],
      extensions: { 'payment-identifier': paymentIdentifier },
    },
  };
}

/** Stock clients deposit what an offer names. The node pays the gas of deposits: it names enough for some calls, and takes less. */
const CALLS_A_DEPOSIT = 10n;

/** Terms of a payment by voucher: only of calls, where the node takes channels, and for who asks. */
function channelTerms(
  chain: ChainInfo,
  { purpose, amountMicro, channels, takesChannel = true }: Terms,
  common: Pick<RequirementsV2, 'payTo' | 'asset' | 'maxTimeoutSeconds' | 'amount'>,
  { nonce: _nonce, minAmount: _minAmount, primaryType: _primaryType, ...extra }: Record<string, unknown>,
  correction: Correction | undefined,
): RequirementsV2[] {
  if (!chain.channels || purpose !== 'invocation' || !takesChannel) return [];
  const { withdrawDelayS, minDepositMicro, isOfferedToAll } = chain.channels;
  if (!isOfferedToAll && channels === undefined) return [];
  const advisedMicro = CALLS_A_DEPOSIT * amountMicro;
  return [
    {
      scheme: CHANNEL_SCHEME,
      ...common,
      network: chain.caip2,
      extra: {
        ...extra,
        receiverAuthorizer: chain.wallet,
        withdrawDelay: withdrawDelayS,
        minDeposit: (advisedMicro > minDepositMicro ? advisedMicro : minDepositMicro).toString(),
        ...correction,
      },
    },
  ];
}

/** The memo and amount of an offer echoed by a v2 client; null when it is not an unexpired offer of ours for this purchase. */
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
