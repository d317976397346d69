import type { HasChain } from '../../chain/chain-info.ts';
import { AppError } from '../../lib/app-error.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { PaymentConditions } from '../onchain/chain-context.ts';
import { type RefusalReason, refusalText } from '../onchain/refusal-reason.ts';
import { type ChannelRefusal, channelRefusalText } from './channel-refusal.ts';
import { type Correction, makeOffer, OFFER_LIFETIME_S, type Offer, type Terms } from './terms.ts';

type Reason = RefusalReason | ChannelRefusal;

const texts: Record<Reason, string> = { ...refusalText, ...channelRefusalText };

type DueText = Pick<Terms, 'purpose' | 'description' | 'alternativeId'>;

const whatFor = ({ purpose, description }: DueText): string =>
  purpose === 'deposit' ? `${description}: it is credited once it is paid.` : 'Agent requires payment for the service.';

/** A 402 answer. The HTTP layer adds the header and the v1 fields of the offer. */
export class PaymentRequiredError extends AppError<'PAYMENT_REQUIRED'> {
  readonly offer: Offer;
  readonly reason: Reason | null;
  private readonly due: DueText;
  private readonly detail: string | null;

  constructor(offer: Offer, reason: Reason | null, due: DueText, detail: string | null = null) {
    const { alternativeId } = due;
    const why = reason === null ? '' : [texts[reason], ...(detail === null ? [] : [detail])].join(' ');
    const message = reason === null ? whatFor(due) : `The payment was refused. ${why}`;
    super('PAYMENT_REQUIRED', message, {
      payment: offer.payment,
      ...(alternativeId === undefined ? {} : { agentId: alternativeId }),
      ...(reason === null ? {} : { details: { reason } }),
    });
    this.offer = offer;
    this.reason = reason;
    this.due = due;
    this.detail = detail;
  }

  /** The same answer with a further x402 v2 extension. */
  with(name: string, extension: unknown): PaymentRequiredError {
    const { v2 } = this.offer;
    const offer = { ...this.offer, v2: { ...v2, extensions: { ...v2.extensions, [name]: extension } } };
    return new PaymentRequiredError(offer, this.reason, this.due, this.detail);
  }
}

/** The payment due for a purchase; `makeMemo` names the thing that a payment will create. */
export interface Due extends Omit<Terms, 'memo' | 'expiresAtS'> {
  readonly makeMemo: () => string;
}

/**
 * Builds the 402 error, whose text `detail` ends. Only for when it is certain that no payment shown with the request has moved, or can move,
 * money. Throws UNAVAILABLE while no payment can settle: a client must not be asked to sign then.
 */
export function paymentRequired(
  ctx: HasChain & HasSecrets & HasClock & PaymentConditions,
  due: Due,
  reason: Reason | null,
  { correction, detail = null }: { readonly correction?: Correction | undefined; readonly detail?: string | null } = {},
): PaymentRequiredError {
  ctx.settlementHalt.require();
  const { makeMemo, ...rest } = due;
  const nowS = Math.floor(ctx.clock.now().getTime() / 1000);
  const { minPaymentMicro, minDepositMicro } = ctx.paymentLimits;
  const minAmountMicro = due.purpose === 'deposit' ? minDepositMicro : minPaymentMicro;
  const terms = { ...rest, minAmountMicro, memo: makeMemo(), expiresAtS: nowS + OFFER_LIFETIME_S };
  const text = reason === null ? 'Payment required' : reason;
  return new PaymentRequiredError(makeOffer(ctx.chain, ctx.secrets, terms, text, correction), reason, due, detail);
}

/** Error for a payment that may have moved money and is not confirmed: never a 402, which would invite a second payment. */
export const paymentPending = (
  requestId: string,
  transactionHash: string | null,
  stalled: string | null = null,
): AppError<'PAYMENT_PENDING'> =>
  new AppError(
    'PAYMENT_PENDING',
    `The payment is not confirmed yet${stalled === null ? '' : ` (${stalled})`}. Repeat the identical request; do not sign a new one.`,
    {
      details: { requestId, transactionHash },
    },
  );

export const isPaymentPending = (error: unknown): error is AppError<'PAYMENT_PENDING'> =>
  error instanceof AppError && error.code === 'PAYMENT_PENDING';
