import { type RefusalReason, refusalText } from '../../chain-outbox/refusal-reason.ts';
import { paymentPending } from '../../x402/payment-required.ts';
import { keyHolderOf, type PayablePurchase } from '../exact/authorize-payment.ts';
import { windowRefusalOf, windowText } from '../exact/check-payment.ts';
import { awaitValidity } from '../exact/in-time.ts';
import { type NewVoucher, refusal, refuseVoucher, type VoucherContext } from './authorize-voucher.ts';
import { type DepositContext, type DepositSteps, settleDeposit } from './chain/settle-deposit.ts';
import type { PresentedVoucher } from './channel-on-wire.ts';
import { type ChannelRefusal, depositRefusals } from './channel-refusal.ts';
import { openChannel } from './channel-store.ts';
import { judgeVoucher, refusalOfDeposit } from './judge-voucher.ts';

export type TakenDeposit = { readonly amountMicro: bigint; readonly transactionHash: string };

interface OfferedDeposit extends Pick<DepositSteps, 'admit' | 'sent'> {
  readonly shown: PresentedVoucher;
  readonly voucher: NewVoucher;
  readonly purchase: PayablePurchase;
}

/**
 * Takes the deposit that came with a voucher; null: none came, or the channel covers the voucher without it. Judges the voucher's sum
 * first, so that a payer with a stale sum is corrected, and keeps its money. Throws PAYMENT_REQUIRED when the deposit certainly moved
 * nothing, and PAYMENT_PENDING while that is unknown: presenting the payload again finds the deposit and continues. `admit` may refuse a
 * good deposit before anything moves.
 */
export async function takeDeposit(
  ctx: VoucherContext & DepositContext,
  { shown, voucher, purchase, admit, sent }: OfferedDeposit,
): Promise<TakenDeposit | null> {
  if (shown.type !== 'deposit') return null;
  const { due, client } = purchase;
  const { chain } = ctx;
  const { deposit } = shown;
  if (deposit?.authorization) await awaitValidity(ctx, deposit.authorization.validAfterS);
  const nowS = Math.floor(ctx.clock.now().getTime() / 1000);
  const early = chain.channels ? refusalOfDeposit(chain.channels, shown, nowS) : 'unsupported_scheme';
  if (!deposit?.authorization) throw refusal(ctx, due, early ?? 'invalid_batch_settlement_evm_payload_type');
  const { amountMicro, authorization } = deposit;
  const refuse = (reason: ChannelRefusal | 'unsupported_scheme', cause: RefusalReason | null) =>
    refusal(ctx, due, reason, { detail: cause && (windowText(cause, authorization, nowS) ?? refusalText[cause]) });
  if (early) throw refuse(early, windowRefusalOf(authorization, BigInt(nowS)));
  const channel = await ctx.channels.read(voucher.channelId);
  const judgement = judgeVoucher(channel, { ...voucher, depositMicro: amountMicro });
  if (judgement.kind === 'refused') throw await refuseVoucher(ctx, voucher, due, judgement);

  const { config } = shown.voucher;
  const outcome = await settleDeposit(
    ctx,
    {
      ...authorization,
      config,
      amountMicro,
      salt: BigInt(authorization.salt),
      accountId: keyHolderOf(purchase),
      client,
      voucherMicro: voucher.maxMicro,
    },
    {
      ...{ admit, sent },
      open: (tx, now) => openChannel(tx, { id: voucher.channelId, chain, config }, now),
    },
  );
  if (outcome.state === 'needless') return null;
  if (outcome.state === 'unknown') throw paymentPending(voucher.requestId, outcome.transactionHash);
  if (outcome.state === 'refused') throw refuse(depositRefusals[outcome.reason], outcome.reason);
  return { amountMicro, transactionHash: outcome.transactionHash };
}
