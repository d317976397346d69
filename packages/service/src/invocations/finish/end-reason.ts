import type { EndReason } from '@agent-network/contracts/invocations/invocations';
import type { CancelReason, Invocation } from '../invocation.ts';

/**
 * Why an invocation ended as it did, and with it why money went back: the failure, who cancelled it, or an agent that took less than its
 * price. Null: it is open, or was done at its price. `cancelled`: it was cancelled before reasons of that were stored.
 */
export function endReasonOf(
  { status, errorCode, refundMicro }: Pick<Invocation, 'status' | 'errorCode' | 'refundMicro'>,
  cancelReason: CancelReason | null,
): EndReason | null {
  if (status === 'failed') return errorCode;
  if (status === 'cancelled') return cancelReason ?? 'cancelled';
  return status === 'completed' && refundMicro ? 'cost_below_price' : null;
}
