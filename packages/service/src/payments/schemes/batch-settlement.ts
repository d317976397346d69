import { invariant } from '../../lib/invariant.ts';
import { holdVouchers } from '../ledger/hold-money.ts';
import { admitVouchers } from '../x402/channels/admit-vouchers.ts';
import { authorizeVoucher, type NewVoucher, refuseVoucher } from '../x402/channels/authorize-voucher.ts';
import { channelAccountId } from '../x402/channels/channel.ts';
import { endVouchers, releaseVouchers } from '../x402/channels/end-vouchers.ts';
import { judgeVoucher } from '../x402/channels/judge-voucher.ts';
import { lookAtHead } from '../x402/channels/look-at-head.ts';
import { type TakenDeposit, takeDeposit } from '../x402/channels/take-deposit.ts';
import { isVoucher, payingWallet } from '../x402/payment-header.ts';
import { isPaymentPending, paymentPending } from '../x402/payment-required.ts';
import type { MeansOf, PaymentScheme, PresentedCall, SchemeContext } from './scheme.ts';

type ByVoucher = MeansOf<'batch-settlement'>;

/** Line of deposits into one channel: a call waits as long as a deposit itself waits for the chain. */
const DEPOSIT_LINE = { timeoutMs: 25_000, maxWaiting: 256 };

/**
 * A payment channel pays, by a voucher for the sum of all its calls (x402 scheme `batch-settlement`). The price is reserved in the channel
 * with the acceptance, and claimed from the contract after the end.
 */
export const batchSettlement: PaymentScheme<ByVoucher> = {
  id: 'batch-settlement',
  fundedAt: 'after_end',
  async authorize(ctx, { shown }, purchase) {
    invariant(shown !== null && isVoucher(shown), 'a channel pays by voucher');
    const voucher = authorizeVoucher(ctx, shown, purchase);
    return {
      ...{ scheme: 'batch-settlement', requestId: voucher.requestId, voucher },
      ...{ priceMicro: voucher.priceMicro, payerLedgerId: channelAccountId(voucher.channelId) },
    };
  },
  inNameOf: (means, accountId) => ({ ...means, voucher: { ...means.voucher, accountId } }),
  /**
   * Deposits into one channel are taken one by one, each until its call is admitted: of parallel ones with one sum, only the first. Throws
   * PAYMENT_PENDING when it would wait for too long: the same payload is good later, as nothing was done with it.
   */
  async enter(ctx, { voucher }, shown) {
    if (!isVoucher(shown) || shown.type !== 'deposit') return null;
    const leave = await ctx.channels.deposits.acquireWithin(voucher.channelId, DEPOSIT_LINE);
    if (leave === null) throw paymentPending(voucher.requestId, null);
    return leave;
  },
  /** The channel is read at the head before, when its payer owes much. */
  async prepare(ctx, { voucher }, call) {
    await lookAtHead(ctx, voucher, payingWallet(call.shown));
    return depositFor(ctx, voucher, call);
  },
  /**
   * Anybody may name the payer of a channel that nobody has paid into, and show a voucher that stands in a claim. A voucher for a wrong sum
   * that is not public goes on: it may be that of a request which another process has just accepted.
   */
  async requireOfPayer(ctx, { voucher }, { due }) {
    const channel = await ctx.channels.read(voucher.channelId);
    const judgement = judgeVoucher(channel, voucher);
    const isFunded = channel !== null && channel.balanceMicro > 0n;
    if (judgement.kind !== 'admitted' && !(isFunded && judgement.isCorrected))
      throw await refuseVoucher(ctx, voucher, due, judgement);
  },
  async claim(tx, means, { now, locks }) {
    const vouchers = means.map(({ voucher }) => voucher);
    const admissions = await admitVouchers(tx, vouchers, now, locks);
    return new Map([...admissions].flatMap(([id, answer]) => (answer.kind === 'admitted' ? [] : [[id, answer]])));
  },
  async hold(tx, holds, { now, locks }) {
    await holdVouchers(tx, holds, now, locks);
    return new Map();
  },
  /** A call that was told its channel's sum has had its turn then. */
  async accepted(ctx, { voucher: { channelId, requestId } }, isAccepted) {
    if (isAccepted) ctx.channels.turns.admitted(channelId, requestId);
    else await ctx.channels.turns.end(channelId, requestId);
  },
  explain: async (ctx, { voucher }, refusal, { due }) =>
    refusal.kind === 'voucher_refused' ? refuseVoucher(ctx, voucher, due, refusal) : null,
  charge: (tx, ended, { now, locks }) => endVouchers(tx, ended, now, locks),
  release: (tx, ended, { now, locks }) => releaseVouchers(tx, ended, now, locks),
  // The payer's next voucher is for less.
  refund: async () => 'channel',
};

/**
 * Takes the deposit that came with a voucher; null: none. The payer is admitted once the deposit is found good and before it is sent. A call
 * whose deposit was sent stays counted: the gas is the node's, whatever becomes of the call. While it is not known whether the deposit has
 * arrived, the call is repeated, and the repetition counts.
 */
async function depositFor(
  ctx: SchemeContext,
  voucher: NewVoucher,
  { shown, purchase, admit, keepCount }: PresentedCall,
): Promise<TakenDeposit | null> {
  if (!isVoucher(shown)) return null;
  let isSent = false;
  const steps = {
    async admit() {
      await admit();
    },
    sent() {
      isSent = true;
    },
  };
  try {
    const taken = await takeDeposit(ctx, { shown, voucher, purchase, ...steps });
    if (isSent) keepCount();
    return taken;
  } catch (error) {
    if (isSent && !isPaymentPending(error)) keepCount();
    throw error;
  }
}
