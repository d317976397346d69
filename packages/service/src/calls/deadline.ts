import type { NodeIdentity } from '../chain/chain-info.ts';
import { AppError, invalid } from '../lib/app-error.ts';
import { isVoucher } from '../payments/schemes/batch-settlement/channel-on-wire.ts';
import type { PresentedPayment } from '../payments/x402/presented-payment.ts';
import type { Store } from '../store/database.ts';

const DEFAULT_MS = 10 * 60_000;
/** Default deadline for a caller that waits for the result. */
const AWAITED_DEFAULT_MS = 5 * 60_000;
const MAX_MS = 24 * 3_600_000;

/** This request accepted nothing; a concurrent repetition may have accepted the call just before. */
export class DeadlinePassedError extends AppError<'VALIDATION_ERROR'> {
  constructor() {
    const { code, message, extra } = invalid('deadline', 'has passed');
    super(code, message, extra);
  }
}

interface DeadlineRules {
  /** True when the caller waits for the result. */
  readonly isAwaited: boolean;
  /** Maximum seconds that the payment of the call allows; absent: no limit. */
  readonly longestCallS?: number | undefined;
}

/**
 * The deadline of an invocation: the caller's, within 24 hours, and within the bound of its payment; by default ten minutes, five when the
 * caller waits for the result, or that bound when it is shorter.
 */
export function deadlineOf(
  wish: string | undefined,
  now: Date,
  { isAwaited, longestCallS }: DeadlineRules = { isAwaited: false },
): Date {
  const maxMs = longestCallS === undefined ? MAX_MS : Math.min(MAX_MS, longestCallS * 1000);
  if (wish === undefined) return new Date(now.getTime() + Math.min(isAwaited ? AWAITED_DEFAULT_MS : DEFAULT_MS, maxMs));
  const deadline = new Date(wish);
  const asksMs = deadline.getTime() - now.getTime();
  if (asksMs <= 0) throw new DeadlinePassedError();
  if (asksMs > MAX_MS) throw invalid('deadline', 'is more than 24 hours from now');
  if (asksMs > maxMs)
    throw invalid(
      'deadline',
      `is more than ${longestCallS} seconds from now: a call that is paid by channel ends within that time. Pay this one with exact, or from a treasury. Nothing was taken`,
    );
  return deadline;
}

/** True if a call with this deadline may be paid by channel, so that its terms offer one. */
export const fitsChannel = (wish: string | undefined, now: Date, longestCallS: number): boolean =>
  wish === undefined || new Date(wish).getTime() - now.getTime() <= longestCallS * 1000;

interface AskedCall {
  readonly body: { readonly deadline?: string | undefined };
  readonly shown: PresentedPayment | null;
  readonly isAwaited: boolean;
  readonly isStreamed: boolean;
}

/** The deadline of a call; one that is paid by voucher ends while its channel can still be claimed. */
export const deadlineFor = (
  { clock, chain }: Store & NodeIdentity,
  { body, shown, isAwaited, isStreamed }: AskedCall,
): Date =>
  deadlineOf(body.deadline, clock.now(), {
    isAwaited: isAwaited && !isStreamed,
    longestCallS: shown && isVoucher(shown) ? chain.channels?.longestCallS : undefined,
  });
