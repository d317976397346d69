import { decodePaymentResponseHeader } from '@x402/core/http';
import type { PaymentRequirementsV2 } from '@x402/core/schemas';
import type { Terms } from '../read-terms.ts';
import type { ChannelConfig, Hex } from './channel-signatures.ts';

/** Maximum delay of a withdrawal without the receiver; the payer makes no deposit under terms with a longer one. */
const longestWithdrawDelayS = 7 * 86_400;

/** The contract takes no delay outside these. */
const isDelay = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 900 && (value as number) <= longestWithdrawDelayS;

const addressPattern = /^0x[0-9a-f]{40}$/i;
const isAddress = (value: unknown): value is Hex =>
  typeof value === 'string' && addressPattern.test(value) && !/^0x0{40}$/.test(value);

/** An offer to pay by channel that has all that it takes to pay it. */
export interface ChannelTerms {
  /** The answer that holds the offer: `resource` and `extensions` are echoed with the payment. */
  readonly answer: Terms;
  readonly offer: PaymentRequirementsV2;
  readonly network: string;
  readonly chainId: number;
  readonly token: { readonly name: string; readonly version: string };
  readonly priceMicro: bigint;
  readonly minDepositMicro: bigint;
  readonly between: Pick<ChannelConfig, 'receiver' | 'receiverAuthorizer' | 'token' | 'withdrawDelay'>;
}

/** The sums of a channel as reported by the node. They are not trusted before they are explained. */
export interface ToldState {
  readonly chargedMicro: bigint | null;
  readonly balanceMicro: bigint | null;
  readonly signed: { readonly maxMicro: bigint; readonly signature: string } | null;
}

export const microOf = (value: unknown): bigint | null =>
  typeof value === 'string' && /^\d{1,30}$/.test(value) ? BigInt(value) : null;

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

function readOffer(answer: Terms, offer: PaymentRequirementsV2): ChannelTerms | null {
  const { receiverAuthorizer, withdrawDelay, name, version, minDeposit } = offer.extra ?? {};
  const chainId = /^eip155:([1-9]\d{0,14})$/.exec(offer.network)?.[1];
  const priceMicro = microOf(offer.amount);
  if (priceMicro === null || chainId === undefined || typeof name !== 'string' || typeof version !== 'string')
    return null;
  if (!isAddress(offer.payTo) || !isAddress(offer.asset) || !isAddress(receiverAuthorizer) || !isDelay(withdrawDelay))
    return null;
  return {
    answer,
    offer,
    network: offer.network,
    chainId: Number(chainId),
    token: { name, version },
    priceMicro,
    minDepositMicro: microOf(minDeposit) ?? 0n,
    between: { receiver: offer.payTo, receiverAuthorizer, token: offer.asset, withdrawDelay },
  };
}

/** The cheapest of these offers that can be paid by channel; `null` when none can. */
export function channelTermsOf(answer: Terms, offers: readonly PaymentRequirementsV2[]): ChannelTerms | null {
  const readable = offers.flatMap((offer) => {
    const eip3009 = (offer.extra?.assetTransferMethod ?? 'eip3009') === 'eip3009';
    const terms = offer.scheme === 'batch-settlement' && eip3009 ? readOffer(answer, offer) : null;
    return terms ? [terms] : [];
  });
  return readable.sort((a, b) => (a.priceMicro < b.priceMicro ? -1 : 1))[0] ?? null;
}

function toldState(extra: unknown): ToldState {
  const channel = field(extra, 'channelState');
  const voucher = field(extra, 'voucherState');
  const maxMicro = microOf(field(voucher, 'signedMaxClaimable'));
  const signature = field(voucher, 'signature');
  return {
    chargedMicro: microOf(field(channel, 'chargedCumulativeAmount')),
    balanceMicro: microOf(field(channel, 'balance')),
    signed: maxMicro !== null && typeof signature === 'string' ? { maxMicro, signature } : null,
  };
}

/** State of the paying channel, from a 402. */
export const stateInOffer = ({ offer }: ChannelTerms): ToldState => toldState(offer.extra);

export interface ToldPayment {
  readonly amountMicro: bigint | null;
  readonly transaction: string;
  readonly chargedMicro: bigint | null;
  readonly state: ToldState;
}

/** The payment that a `PAYMENT-RESPONSE` header reports as taken; `null` when it reports none. */
export function toldPayment(header: string | null): ToldPayment | null {
  if (header === null) return null;
  try {
    const response = decodePaymentResponseHeader(header) as unknown;
    if (field(response, 'success') !== true) return null;
    const extra = field(response, 'extra');
    return {
      amountMicro: microOf(field(response, 'amount')),
      transaction: String(field(response, 'transaction') ?? ''),
      chargedMicro: microOf(field(extra, 'chargedAmount')),
      state: toldState(extra),
    };
  } catch {
    return null;
  }
}
