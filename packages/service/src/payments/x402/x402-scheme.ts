import type {
  ChannelStateExtra,
  PaymentRequiredV1,
  RequirementsV2,
  X402SchemeId,
} from '@agent-network/contracts/payments/x402';
import type { ChainInfo } from '../../chain/chain-info.ts';
import type { HeaderName, PresentedPayment } from './presented-payment.ts';

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
  /** `asked`: the payer's client can pay by channel. `only`: this address accepts nothing else. Absent: unknown. */
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

/** State that a payer's client needs to continue after a voucher for a wrong sum; sent only to the holder of the channel's key. */
export interface Correction {
  readonly channelState: ChannelStateExtra;
  /** absent: the node has no voucher of the channel. */
  readonly voucherState?: { readonly signedMaxClaimable: string; readonly signature: string };
}

/** Fields of an entry of a 402 or a list that all schemes have. */
type CommonTerms = Omit<RequirementsV2, 'scheme' | 'extra'>;

/** An offer, as the entries of its schemes show it. */
export interface OfferedTerms {
  readonly common: CommonTerms;
  /** Token, memo and the MAC by which the node recognises its offer. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** A nonce bound to the purchase, for a payer that signs one transfer. */
  readonly nonce: string;
  readonly correction: Correction | undefined;
}

/** A payment scheme of x402 on the wire: its offers, and the reading of its payments. Pure. */
export interface X402Scheme<P extends PresentedPayment = PresentedPayment> {
  readonly id: X402SchemeId;
  /** Entries for a 402 answer; empty: the scheme can't pay for this purchase, or was not asked for. */
  offer(chain: ChainInfo, terms: Terms, offered: OfferedTerms): RequirementsV2[];
  /** Entries for a 402 answer of version 1. Absent: version 1 does not have the scheme. */
  offerV1?(chain: ChainInfo, terms: Terms, offered: OfferedTerms): PaymentRequiredV1['accepts'];
  /** Entries for catalogs. They carry no offer, as payments are signed for the entries of a 402. */
  listed(chain: ChainInfo, amountMicro: bigint): RequirementsV2[];
  /** Reads a decoded payload that came in this header. Throws VALIDATION_ERROR with the path of the invalid field. */
  read(header: HeaderName, payload: unknown): P;
  /** The part that the payer signed: equal for two forms of one payment. */
  signedPart(shown: P): unknown;
  /** Lock key that serializes calls presenting the same payment. Only holders of the payment can compute it. */
  turnKey(shown: P): string;
}

export const commonTerms = (chain: ChainInfo, amountMicro: bigint): CommonTerms => ({
  network: chain.caip2,
  amount: amountMicro.toString(),
  asset: chain.token,
  payTo: chain.wallet,
  maxTimeoutSeconds: PAYMENT_WINDOW_S,
});

/** The token's EIP-712 domain, which payers sign under. */
export const tokenExtra = (chain: ChainInfo) => ({ name: chain.tokenName, version: chain.tokenVersion });

/** Entries for a catalog of resources at this price. */
export const listedTerms = (
  { x402Schemes }: { readonly x402Schemes: readonly X402Scheme[] },
  chain: ChainInfo,
  amountMicro: bigint,
): RequirementsV2[] => x402Schemes.flatMap((scheme) => scheme.listed(chain, amountMicro));
