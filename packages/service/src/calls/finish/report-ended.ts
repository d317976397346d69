import type { EndReason } from '@agent-network/contracts/invocations/invocations';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { exemplarLabels } from '../../lib/telemetry/tracing.ts';
import type { CancelReason, Invocation } from '../invocation.ts';
import type { EndedInvocation } from './end-invocations.ts';

/**
 * Counts and logs invocations after the transaction that ended them: at most once each, because compare-and-set lets one transaction end
 * an invocation. A process that dies between commit and log line leaves no line; `GET /operator/invocations/{id}` shows the same facts.
 * The line holds no input, no result and no message of an agent.
 */
export function reportEnded(ctx: Telemetry, ended: readonly EndedInvocation[]): void {
  for (const invocation of ended) {
    const { id, agentId, accountId, status, errorCode, costMicro, refundMicro, refundWay, attempt } = invocation;
    const { createdAt, startedAt, completedAt, cancelReason } = invocation;
    const { metrics } = ctx;
    metrics.invocationsEnded.inc({ status, reason: errorCode ?? '' });
    const exemplar = { exemplarLabels: exemplarLabels() };
    if (costMicro) metrics.invocationsCharged.inc({ value: Number(costMicro), ...exemplar });
    if (refundMicro)
      metrics.invocationsRefunded.inc({ labels: { way: refundWay }, value: Number(refundMicro), ...exemplar });
    ctx.log.info(
      {
        ...{ requestId: id, agentId, accountId, status, reason: endReasonOf(invocation, cancelReason) },
        ...{ costMicro, refundMicro, refundWay, attempt },
        durationMs: (completedAt ?? createdAt).getTime() - (startedAt ?? createdAt).getTime(),
      },
      'invocation ended',
    );
  }
}

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
