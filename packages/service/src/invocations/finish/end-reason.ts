import type { EndReason } from '@agent-network/contracts/invocations/invocations';
import type { CancelReason, Invocation } from '../invocation.ts';

/**
 * The reason of an end, and so of a refund: the failure, the cancellation, or a cost below the price. Null: open, or completed at its price.
 * `cancelled`: cancelled by an early version, which stored no reasons of cancellations.
 */
export function endReasonOf(
  { status, errorCode, refundMicro }: Pick<Invocation, 'status' | 'errorCode' | 'refundMicro'>,
  cancelReason: CancelReason | null,
): EndReason | null {
  if (status === 'failed') return errorCode;
  if (status === 'cancelled') return cancelReason ?? 'cancelled';
  return status === 'completed' && refundMicro ? 'cost_below_price' : null;
}
