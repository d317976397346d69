import type { HasLog } from '../../lib/log/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { EndedInvocation } from './end-invocations.ts';
import { endReasonOf } from './end-reason.ts';

export type ReportContext = HasLog & HasMetrics;

/**
 * Counts and logs invocations that a committed transaction ended: once each, as only the transaction that changed the state has them.
 * A process that dies between the commit and this line logs nothing; `GET /operator/invocations/{id}` tells the same from the record.
 * Never what was asked or answered, nor an agent's own words.
 */
export function reportEnded(ctx: ReportContext, ended: readonly EndedInvocation[]): void {
  for (const invocation of ended) {
    const { id, agentId, accountId, status, errorCode, costMicro, refundMicro, refundWay, attempt } = invocation;
    const { createdAt, startedAt, completedAt, cancelReason } = invocation;
    ctx.metrics.invocationsEnded.inc({ status, reason: errorCode ?? '' });
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
