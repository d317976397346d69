import type { HasLog } from '../../lib/log/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import { exemplarLabels } from '../../lib/tracing/tracing.ts';
import type { EndedInvocation } from './end-invocations.ts';
import { endReasonOf } from './end-reason.ts';

export type ReportContext = HasLog & HasMetrics;

/**
 * Counts and logs invocations after the transaction that ended them: at most once each, because compare-and-set lets one transaction end
 * an invocation. A process that dies between commit and log line leaves no line; `GET /operator/invocations/{id}` shows the same facts.
 * The line holds no input, no result and no message of an agent.
 */
export function reportEnded(ctx: ReportContext, ended: readonly EndedInvocation[]): void {
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
