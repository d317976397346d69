import type { NodeIdentity } from '../../../chain/chain-info.ts';
import type { NodeKeys } from '../../../chain/keys/node-keys.ts';
import { AppError } from '../../../lib/app-error.ts';
import type { Telemetry } from '../../../lib/telemetry/telemetry.ts';
import type { Store } from '../../../store/database.ts';
import type { PaymentConditions } from '../../chain-outbox/chain-context.ts';
import { type PaymentRequiredError, paymentRequired } from '../../x402/payment-required.ts';
import type { PresentedPayment } from '../../x402/presented-payment.ts';
import type { Correction } from '../../x402/x402-scheme.ts';
import { echoedOffer, keyHolderOf, offerOf, type PayablePurchase, purchaseKeysOf } from '../exact/authorize-payment.ts';
import type { PaymentChecks } from '../exact/payment-checks.ts';
import { type Channel, channelAccountId, toChannelState } from './channel.ts';
import { isVoucher, type PresentedVoucher } from './channel-on-wire.ts';
import type { ChannelRefusal } from './channel-refusal.ts';
import type { ChannelServices } from './channel-services.ts';
import type { NewCharge } from './channel-store.ts';
import { refusalOfVoucher } from './judge-voucher.ts';
import { findKeyedPurchases } from './purchase-store.ts';

/** A voucher that may pay for a request: all that can be checked without a lock on its channel is checked. */
export interface NewVoucher extends NewCharge {
  readonly accountId: string;
  readonly payerLedgerId: string;
  /** Other keys of the purchase, as of a payment. */
  readonly purchaseKeys: readonly string[];
}

export type VoucherContext = Store &
  Telemetry &
  Pick<NodeKeys, 'secrets'> &
  ChannelServices &
  NodeIdentity &
  PaymentConditions &
  PaymentChecks;

/**
 * The request that this purchase was before, also by an offer that has expired since; null: none. Throws CONFLICT when its offer or key was
 * used for something else.
 */
export async function findBoughtBefore(
  ctx: VoucherContext,
  shown: PresentedPayment,
  purchase: PayablePurchase,
): Promise<string | null> {
  const offer = echoedOffer(ctx, shown, purchase.due);
  const keys = purchaseKeysOf(shown, purchase);
  const accountId = keyHolderOf(purchase);
  const known =
    (offer && (await ctx.channels.findPurchase(offer.memo, isVoucher(shown) ? shown.payer : undefined))) ??
    (keys.length > 0 && accountId !== null ? ((await findKeyedPurchases(ctx.db, accountId, keys))[0] ?? null) : null);
  if (!known) return null;
  if (!known.fingerprint?.equals(purchase.fingerprint)) {
    if (isVoucher(shown)) ctx.metrics.channelRefusals.inc({ reason: 'used_for_another_request' });
    throw new AppError('CONFLICT', 'This payment was used for another request. Sign a new one for this request.');
  }
  return known.requestId;
}

/** Checks a voucher by all that does not change. Throws PAYMENT_REQUIRED with the scheme's code. Nothing is written. */
export function authorizeVoucher(ctx: VoucherContext, shown: PresentedVoucher, purchase: PayablePurchase): NewVoucher {
  const { chain } = ctx;
  const refuse = (reason: ChannelRefusal | 'unsupported_scheme' | 'invalid_offer') =>
    refusal(ctx, purchase.due, reason);
  if (!chain.channels) throw refuse('unsupported_scheme');
  if (shown.type !== 'voucher' && shown.type !== 'deposit') throw refuse('invalid_batch_settlement_evm_payload_type');
  const { voucher } = shown;
  const refused = refusalOfVoucher(chain, chain.channels, shown, ctx.channels.compute(chain.chainId, voucher));
  if (refused) throw refuse(refused);
  const { offer } = offerOf(ctx, shown, purchase);
  if (!offer) throw refuse('invalid_offer');
  return {
    requestId: offer.memo,
    channelId: voucher.channelId,
    priceMicro: offer.amountMicro,
    maxMicro: voucher.maxMicro,
    signature: voucher.signature,
    fingerprint: purchase.fingerprint,
    accountId: purchase.due.accountId,
    payerLedgerId: channelAccountId(voucher.channelId, chain.ledgerAsset),
    purchaseKeys: purchaseKeysOf(shown, purchase).filter((key) => key !== offer.memo),
  };
}

/**
 * The 402 for a voucher that its channel does not cover. With `isCorrected` it contains the channel's sum, in turn with other calls of this
 * channel.
 */
export async function refuseVoucher(
  ctx: VoucherContext,
  { channelId, requestId }: Pick<NewVoucher, 'channelId' | 'requestId'>,
  due: PayablePurchase['due'],
  { reason, isCorrected }: { readonly reason: ChannelRefusal; readonly isCorrected: boolean },
): Promise<PaymentRequiredError> {
  if (!isCorrected) return refusal(ctx, due, reason);
  // It was not public when it was shown: it is told the sum even if a claim has published it while it waited.
  await ctx.channels.turns.take(channelId, requestId);
  const channel = await ctx.channels.read(channelId);
  if (!channel) throw new Error(`channel ${channelId} of a voucher is gone`);
  // Stock clients answer with the offer that they had, others with this one: both are for the same request.
  return refusal(ctx, { ...due, makeMemo: () => requestId }, reason, { correction: correctionOf(channel) });
}

export const correctionOf = (channel: Channel): Correction => ({
  channelState: toChannelState(channel),
  ...(channel.signature === null
    ? {}
    : { voucherState: { signedMaxClaimable: channel.signedMicro.toString(), signature: channel.signature } }),
});

/** The 402 for a voucher or deposit, counted by its reason. */
export function refusal(
  ctx: VoucherContext,
  due: PayablePurchase['due'],
  reason: ChannelRefusal | 'unsupported_scheme' | 'invalid_offer',
  more: { readonly correction?: Correction; readonly detail?: string | null } = {},
): PaymentRequiredError {
  ctx.metrics.channelRefusals.inc({ reason });
  return paymentRequired(ctx, due, reason, more);
}
