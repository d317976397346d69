import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';

/** A row of the list: one invocation, or those of one bulk request that are on the page. */
export interface InvocationRow {
  readonly first: HistoryItem;
  /** With the first. */
  readonly items: readonly HistoryItem[];
}

/** Invocations of one bulk request as one row, at the place of the latest. */
export function groupBulk(items: readonly HistoryItem[]): readonly InvocationRow[] {
  const byKey = Map.groupBy(items, ({ bulkId, requestId }) => bulkId ?? requestId);
  return [...byKey.values()].flatMap((group) => (group[0] ? [{ first: group[0], items: group }] : []));
}

export const isBulk = ({ items }: InvocationRow): boolean => items.length > 1;

/** Total cost of the items; null while none has a cost. */
export function costOf({ items }: InvocationRow): string | null {
  const costs = items.flatMap(({ cost }) => (cost === null ? [] : [parseUsdc(cost)]));
  return costs.length === 0 ? null : formatUsdc(costs.reduce((sum, cost) => sum + cost, 0n));
}

/** Number of items by status, in the order of the list. */
export const statusCounts = ({ items }: InvocationRow): ReadonlyMap<HistoryItem['status'], number> =>
  new Map([...Map.groupBy(items, ({ status }) => status)].map(([status, group]) => [status, group.length]));
