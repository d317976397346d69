import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { ChainContext } from '../../payments/onchain/chain-context.ts';
import type { HasPaymentLimits } from '../../payments/onchain/payment-limits.ts';
import { authorizePayment, type PayablePurchase } from '../../payments/x402/authorize-payment.ts';
import {
  authorizeVoucher,
  type NewVoucher,
  refuseVoucher,
  type VoucherContext,
} from '../../payments/x402/channels/authorize-voucher.ts';
import type { HasChannels } from '../../payments/x402/channels/channels.ts';
import { judgeVoucher } from '../../payments/x402/channels/judge-voucher.ts';
import type { PaymentChecks } from '../../payments/x402/payment-checks.ts';
import { isVoucher, payingWallet, type Shown } from '../../payments/x402/payment-header.ts';
import type { Acceptance } from './accept-invocations.ts';
import type { KeylessPayer } from './invocation-purchase.ts';

/** The x402 payment for a call: a payment on chain, or a voucher of a channel. */
export type Authorized = Pick<Acceptance, 'payment' | 'voucher'>;

interface ChainParts extends ChainContext, PaymentChecks {}
interface ChannelParts extends HasChannels, HasPaymentLimits, HasMetrics {}
type PaidContext = ChainParts & ChannelParts & HasSecrets;

export async function authorizeCall(
  ctx: PaidContext,
  shown: Shown | null,
  purchase: PayablePurchase,
): Promise<Authorized> {
  return shown && isVoucher(shown)
    ? { payment: null, voucher: authorizeVoucher(ctx, shown, purchase) }
    : { payment: await authorizePayment(ctx, shown, purchase), voucher: null };
}

/** The caller that the call is accepted for, and what pays for it: without an API key, the account of the paying wallet. */
export async function inNameOfPayer(
  ctx: VoucherContext,
  caller: KnownCaller,
  { shown, keyless }: { readonly shown: Shown | null; readonly keyless?: KeylessPayer },
  { payment, voucher, due }: Authorized & { readonly due: PayablePurchase['due'] },
): Promise<Authorized & { readonly payer: KnownCaller }> {
  // A payment that is shown where none is due was not checked: it names nobody.
  if (!keyless || !shown || (!payment && !voucher)) return { payment, voucher, payer: caller };
  if (voucher) await requireOfPayer(ctx, voucher, due);
  const payer = await keyless.admit(payingWallet(shown));
  const { accountId } = payer;
  return { payment: payment && { ...payment, accountId }, voucher: voucher && { ...voucher, accountId }, payer };
}

/**
 * Refuses what does not show that it comes from the payer, before an account is opened for that wallet and a call of it counted: anybody
 * may name the payer of a channel that nobody has paid into, and show a voucher that stands in a claim. A voucher for a wrong sum that is
 * not public goes on: it may be that of a request which another process has just accepted.
 */
async function requireOfPayer(ctx: VoucherContext, voucher: NewVoucher, due: PayablePurchase['due']): Promise<void> {
  const channel = await ctx.channels.read(voucher.channelId);
  const judgement = judgeVoucher(channel, voucher);
  const isFunded = channel !== null && channel.balanceMicro > 0n;
  if (judgement.kind !== 'admitted' && !(isFunded && judgement.isCorrected))
    throw await refuseVoucher(ctx, voucher, due, judgement);
}
