import type { ChainInfo, NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { onDefault, onEachOpen } from '../../chain/networks.ts';
import { AppError } from '../../lib/app-error.ts';
import type { Store } from '../../store/database.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import { type RefusalReason, refusalText } from '../chain-outbox/refusal-reason.ts';
import { type ChannelRefusal, channelRefusalText } from '../schemes/batch-settlement/channel-refusal.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import { makeOffer, OFFER_LIFETIME_S, type Offer } from './terms.ts';
import type { Correction, Terms } from './x402-scheme.ts';

type Reason = RefusalReason | ChannelRefusal;

const texts: Record<Reason, string> = { ...refusalText, ...channelRefusalText };

type TermsText = Pick<Terms, 'purpose' | 'description' | 'alternativeId'>;

const whatFor = ({ purpose, description }: TermsText): string =>
  purpose === 'deposit' ? `${description}: it is credited once it is paid.` : 'Agent requires payment for the service.';

/** A 402 answer. The HTTP layer adds the header and the v1 fields of the offer. */
export class PaymentRequiredError extends AppError<'PAYMENT_REQUIRED'> {
  readonly offer: Offer;
  readonly reason: Reason | null;
  private readonly due: TermsText;
  private readonly detail: string | null;

  constructor(offer: Offer, reason: Reason | null, due: TermsText, detail: string | null = null) {
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

  /** Copies this answer and adds an x402 v2 extension. */
  with(name: string, extension: unknown): PaymentRequiredError {
    const { v2 } = this.offer;
    const offer = { ...this.offer, v2: { ...v2, extensions: { ...v2.extensions, [name]: extension } } };
    return new PaymentRequiredError(offer, this.reason, this.due, this.detail);
  }
}

/** The payment due for a purchase; `makeMemo` names the thing that a payment will create. */
export interface PaymentTerms extends Omit<Terms, 'memo' | 'expiresAtS'> {
  readonly makeMemo: () => string;
  /** True if it is paid on the default network only. */
  readonly isOnDefault?: boolean;
  /** True if it is paid in the asset of the context only. */
  readonly isOnlyHere?: boolean;
}

/** Needs of building a 402. */
export type TermsContext = Pick<NodeIdentity, 'chain'> &
  Pick<NodeKeys, 'secrets'> &
  Store &
  PaymentConditions &
  PaymentChecks;

/**
 * Builds the 402 error; `detail` is the end of its text. Use it only when certain that no payment presented with the request has moved, or
 * can move, money. Throws UNAVAILABLE while no payment can settle, as clients must not sign then.
 */
export function paymentRequired(
  ctx: TermsContext,
  due: PaymentTerms,
  reason: Reason | null,
  { correction, detail = null }: { readonly correction?: Correction | undefined; readonly detail?: string | null } = {},
): PaymentRequiredError {
  ctx.settlementHalt.require();
  const { makeMemo, isOnDefault: _, isOnlyHere: __, ...rest } = due;
  const nowS = Math.floor(ctx.clock.now().getTime() / 1000);
  const { minPaymentMicro, minDepositMicro } = ctx.paymentLimits;
  const minAmountMicro = due.purpose === 'deposit' ? minDepositMicro : minPaymentMicro;
  const terms = { ...rest, minAmountMicro, memo: makeMemo(), expiresAtS: nowS + OFFER_LIFETIME_S };
  const text = reason === null ? 'Payment required' : reason;
  const offer = makeOffer(ctx, chainsFor(ctx, due), terms, text, correction);
  return new PaymentRequiredError(offer, reason, due, detail);
}

/** The networks on which a purchase can be paid, that of the context first. Those where nothing settles now are left out. */
function chainsFor(
  ctx: TermsContext,
  { isOnDefault = false, isOnlyHere = false }: PaymentTerms,
): [ChainInfo, ...ChainInfo[]] {
  const own = isOnDefault ? onDefault(ctx) : ctx;
  const all = isOnDefault || isOnlyHere ? [] : onEachOpen(ctx);
  const others = all.filter(({ settlementHalt }) => settlementHalt.reason() === null);
  return [own.chain, ...others.flatMap(({ chain }) => (chain === own.chain ? [] : [chain]))];
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

/**
 * The x402 extension `bazaar` of a call of an agent: how to make it. The schema of the body is the same for every agent and is in the
 * OpenAPI document, as terms travel in a header. The stub of a schema here satisfies validators of the extension.
 */
export const bazaarExtension = {
  info: {
    input: { type: 'http', method: 'POST', bodyType: 'json', body: { task: 'The task for the agent.', input: {} } },
    output: { type: 'json' },
  },
  schema: { type: 'object', required: ['input'] },
} as const;
