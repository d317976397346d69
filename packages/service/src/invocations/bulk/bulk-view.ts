import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { BulkRecord } from '@agent-network/contracts/invocations/bulk';
import { formatUsdc } from '@agent-network/contracts/money';
import type { InvocationState } from '../record-store.ts';
import type { Bulk } from './bulk-store.ts';

export const toBulkResult = (bulk: Bulk, requests: readonly InvocationState[]): DataOf<Api['invokeBulk']> => ({
  bulkId: bulk.id,
  requests: requests.map(({ agentId, id, status }) => ({ agentId, requestId: id, status })),
  strategy: bulk.strategy,
  estimatedCost: formatUsdc(
    requests.reduce((sum, { payerLedgerId, priceMicro }) => (payerLedgerId === null ? sum : sum + priceMicro), 0n),
  ),
});

export function toBulkRecord(
  bulk: Bulk,
  requests: readonly (InvocationState & { readonly result: unknown })[],
): BulkRecord {
  const isOver = bulk.status !== 'processing';
  const sum = (pick: (invocation: InvocationState) => bigint) =>
    requests.reduce((total, each) => total + pick(each), 0n);
  return {
    ...toBulkResult(bulk, requests),
    status: bulk.status,
    result: requests.find(({ id }) => id === bulk.winner)?.result ?? null,
    winner: bulk.winner,
    cost: isOver ? formatUsdc(sum((each) => each.costMicro ?? 0n)) : null,
    createdAt: bulk.createdAt.toISOString(),
    completedAt: bulk.completedAt?.toISOString() ?? null,
  };
}
