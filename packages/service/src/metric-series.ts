import { failureReasons } from '@agent-network/contracts/invocations/invocations';
import { ranks } from './http/admission/request-kind.ts';
import { contradictionKinds } from './invocations/audit/money-audit-store.ts';
import { createMetrics, type Metrics } from './lib/metrics.ts';
import { reasons as ignoredReasons } from './network/nodes/entry.ts';
import { channelRefusalText } from './payments/x402/channel-refusal.ts';

/** Reasons to refuse what a channel pays beside those of the scheme. */
const otherChannelRefusals = [
  'malformed',
  'unsupported_scheme',
  'invalid_offer',
  'used_for_another_request',
  'refunded_too_often',
];

/**
 * Metrics with every counter whose labels are known at 0: a rate or an alert on one that has not counted yet is 0, not missing, and its first
 * count is seen as a rise. Those of recurring jobs come with the jobs.
 */
export function createNodeMetrics(): Metrics {
  const metrics = createMetrics();
  for (const status of ['completed', 'cancelled'] as const) metrics.invocationsEnded.inc({ status, reason: '' }, 0);
  for (const reason of failureReasons) metrics.invocationsEnded.inc({ status: 'failed', reason }, 0);
  for (const way of ['treasury', 'channel', 'on_chain', 'credited'] as const)
    metrics.invocationsRefunded.inc({ labels: { way }, value: 0 });
  for (const outcome of ['settled', 'failed', 'unknown'] as const) metrics.settlements.inc({ outcome }, 0);
  for (const kind of [...contradictionKinds, 'stale_hold']) metrics.moneyContradictions.inc({ kind }, 0);
  for (const reason of [...Object.keys(channelRefusalText), ...otherChannelRefusals])
    metrics.channelRefusals.inc({ reason }, 0);
  for (const outcome of ['sent', 'done', 'failed', 'refused']) metrics.channelClaims.inc({ outcome }, 0);
  for (const kind of ['registered', 'uri', 'owner', 'wallet', 'metadata', 'malformed', 'upgraded'])
    metrics.registryLogs.inc({ kind }, 0);
  for (const reason of ignoredReasons) metrics.networkIgnored.inc({ reason }, 0);
  for (const reason of [...ignoredReasons, 'endless']) metrics.networkFeedFailures.inc({ reason }, 0);
  for (const kind of ['unauthorized', 'forbidden'] as const) metrics.requestsRefused.inc({ kind }, 0);
  for (const reason of ['queue_time', 'full', 'deadline'] as const)
    for (const priority of ranks) metrics.requestsShed.inc({ reason, priority }, 0);
  metrics.requestsShed.inc({ reason: 'database', priority: '' }, 0);
  // A node that has not compared since its start, as the chain is away, is late like one that has.
  metrics.reservesChecked.setToCurrentTime();
  // A series from 0 to the losses of years would be a rise at every start.
  metrics.booksLoss.remove();
  return metrics;
}
