import { createHash } from 'node:crypto';
import type { ShownVoucher } from '../../payment-header.ts';
import { isVoucher, type Shown } from '../../payment-header.ts';
import { type Due, paymentRequired } from '../../payment-required.ts';
import { correctionOf, refusal, type VoucherContext } from '../authorize-voucher.ts';
import type { Channel } from '../channel.ts';
import { refusalOfVoucher } from '../judge-voucher.ts';
import type { ClaimContext } from './claim-context.ts';
import { refundChannel } from './refund-channel.ts';

export interface Refunded {
  readonly channel: Channel;
  readonly amountMicro: bigint;
  readonly transactionHash: string;
}

/**
 * Refunds the channel of a payload of the type `refund`. Throws PAYMENT_REQUIRED with the offer that refund payloads echo when there is
 * none, and with the scheme's code when it is refused. Whoever holds the channel's key may ask; the money goes to the payer.
 */
export async function refundByPayload(
  ctx: VoucherContext & ClaimContext,
  shown: Shown | null,
  { due, client }: { readonly due: Due; readonly client: string | null },
): Promise<Refunded> {
  if (!shown) throw paymentRequired(ctx, due, null);
  const { chain } = ctx;
  if (!chain.channels) throw refusal(ctx, due, 'unsupported_scheme');
  if (!isVoucher(shown) || shown.type !== 'refund')
    throw refusal(ctx, due, 'invalid_batch_settlement_evm_refund_payload');
  const { voucher, refundMicro } = shown;
  const refused = refusalOfVoucher(chain, chain.channels, shown, ctx.channels.compute(voucher));
  if (refused) throw refusal(ctx, due, refused);
  const answer = await refundChannel(ctx, {
    channelId: voucher.channelId,
    voucher: { maxMicro: voucher.maxMicro, signature: voucher.signature },
    amountMicro: refundMicro,
    payloadKey: payloadKeyOf(shown),
    client,
  });
  const channel = await ctx.channels.read(voucher.channelId);
  if (answer.kind === 'refunded' && channel) return { ...answer, channel };
  const reason = answer.kind === 'refused' ? answer.reason : 'invalid_batch_settlement_evm_channel_not_found';
  // Anybody can show a voucher that stands in a claim.
  const isTold = reason === 'invalid_batch_settlement_evm_cumulative_amount_mismatch' && channel !== null;
  throw isTold && voucher.maxMicro > channel.publishedMicro
    ? refusal(ctx, due, reason, { correction: correctionOf(channel) })
    : refusal(ctx, due, reason);
}

/** Two refunds of the same part are told apart by the offers that they echo. */
function payloadKeyOf({ voucher, refundMicro, accepted }: ShownVoucher): string {
  const parts = [String(voucher.maxMicro), refundMicro === null ? 'all' : String(refundMicro), accepted.extra.memo];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
