import { AppError } from '../../lib/app-error.ts';
import type { PayablePurchase } from '../../payments/x402/authorize-payment.ts';
import {
  findBoughtBefore,
  type NewVoucher,
  type VoucherContext,
} from '../../payments/x402/channels/authorize-voucher.ts';
import type { DepositContext } from '../../payments/x402/channels/chain/settle-deposit.ts';
import type { HasChannels } from '../../payments/x402/channels/channels.ts';
import { lookAtHead } from '../../payments/x402/channels/look-at-head.ts';
import { type TakenDeposit, takeDeposit } from '../../payments/x402/channels/take-deposit.ts';
import { isVoucher, payingWallet, type Shown } from '../../payments/x402/payment-header.ts';
import { isPaymentPending, paymentPending } from '../../payments/x402/payment-required.ts';
import { DeadlinePassedError } from '../deadline.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import type { AcceptAnswer, Acceptance, HasAcceptor } from './accept-invocations.ts';
import type { KeylessPayer } from './invocation-purchase.ts';

/** Line of deposits into one channel: a call waits as long as a deposit itself waits for the chain. */
const DEPOSIT_LINE = { timeoutMs: 25_000, maxWaiting: 256 };

/**
 * Deposits into one channel are taken one by one, each until its call is admitted: of parallel ones with one sum, only the first. Throws
 * PAYMENT_PENDING when it would wait for too long: the same payload is good later, as nothing was done with it.
 */
export async function enterDeposits(
  ctx: HasChannels,
  shown: Shown | null,
  voucher: NewVoucher | null,
): Promise<(() => void) | null> {
  if (!voucher || !shown || !isVoucher(shown) || shown.type !== 'deposit') return null;
  const leave = await ctx.channels.deposits.acquireWithin(voucher.channelId, DEPOSIT_LINE);
  if (leave === null) throw paymentPending(voucher.requestId, null);
  return leave;
}

interface OfDeposit {
  readonly shown: Shown | null;
  readonly keepCount: () => void;
  readonly keyless?: KeylessPayer;
}

/**
 * Takes the deposit that came with a voucher; null: none. The channel is read before, when its payer owes much. The payer is admitted once the deposit is found good and before it is sent. A call
 * whose deposit was sent stays counted: the gas is the node's, whatever becomes of the call. While it is not known whether the deposit has
 * arrived, the call is repeated, and the repetition counts.
 */
export async function depositFor(
  ctx: VoucherContext & DepositContext,
  { shown, keepCount, keyless }: OfDeposit,
  { voucher, purchase }: { voucher: NewVoucher | null; purchase: PayablePurchase },
): Promise<TakenDeposit | null> {
  if (!voucher || !shown || !isVoucher(shown)) return null;
  await lookAtHead(ctx, voucher, payingWallet(shown));
  let isSent = false;
  const steps = {
    async admit() {
      await keyless?.admit(payingWallet(shown));
    },
    sent() {
      isSent = true;
    },
  };
  try {
    const taken = await takeDeposit(ctx, { ...{ shown, voucher, purchase }, ...steps });
    if (isSent) keepCount();
    return taken;
  } catch (error) {
    if (isSent && !isPaymentPending(error)) keepCount();
    throw error;
  }
}

/** The request that this purchase was before, whichever scheme paid for it; null: none, or nothing is shown. */
export async function findBought(
  ctx: VoucherContext,
  shown: Shown | null,
  purchase: PayablePurchase,
): Promise<Invocation | null> {
  const requestId = shown && (await findBoughtBefore(ctx, shown, purchase));
  return requestId === null ? null : findInvocation(ctx.db, requestId);
}

/** The same for a voucher, before it is judged; null when another payment is shown, which `findShownBefore` finds by its authorization. */
export const findBoughtByVoucher = async (
  ctx: VoucherContext,
  shown: Shown | null,
  purchase: PayablePurchase,
): Promise<Invocation | null> => (shown && isVoucher(shown) ? findBought(ctx, shown, purchase) : null);

/**
 * Accepts a call. One that was told its channel's sum has had its turn then: with its admission, or because it is not admitted. Throws
 * CONFLICT when the caller has ended the call that waited for this payment or when that call is another one, and DeadlinePassedError.
 */
export async function acceptInTurn(
  ctx: HasAcceptor & HasChannels,
  item: Acceptance,
): Promise<Exclude<AcceptAnswer, { kind: 'given_up' | 'waits' | 'too_late' }>> {
  const { voucher } = item;
  const answer = await ctx.acceptor.accept(item);
  if (voucher) {
    const { turns } = ctx.channels;
    const { channelId, requestId } = voucher;
    if (answer.kind === 'accepted') turns.admitted(channelId, requestId);
    else await turns.end(channelId, requestId);
  }
  if (answer.kind === 'too_late') throw new DeadlinePassedError();
  if (answer.kind === 'given_up')
    throw new AppError('CONFLICT', 'The caller ended this call before its payment came. Nothing was charged for it.');
  if (answer.kind === 'waits') throw paysAnother(item.invocation.id);
  return answer;
}

const paysAnother = (taskId: string) =>
  new AppError(
    'CONFLICT',
    `This payment is for the A2A task ${taskId}, and nothing was charged. Send it in an A2A message with this taskId, or pay the terms of this call.`,
  );
