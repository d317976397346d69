import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import {
  KEPT_TASK_CHARACTERS,
  openStatuses,
  type RequestDetail,
  type RequestRecord,
} from '@agent-network/contracts/invocations/invocations';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';

/** An invocation with its request and the times of its events. */
export type DetailedRecord = RequestRecord & { readonly detail?: RequestDetail | undefined };

/** True if the invocation can still be cancelled. */
export const isOpen = ({ status }: Pick<RequestRecord, 'status'>): boolean => openStatuses.includes(status);

/** True if an optional object of the API has any field. */
export const hasAny = (object: object | undefined): object is object =>
  object !== undefined && Object.keys(object).length > 0;

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

/** The values that a receipt has hashes of, as far as the page still has them. */
interface ReceiptParts {
  readonly task?: string;
  readonly input?: unknown;
  readonly context?: string | null;
  readonly result?: unknown;
  readonly usage?: unknown;
}

/**
 * The contents that an invocation's receipt is checked against. Removed contents, a task that may have been shortened with them, and the
 * result of an invocation that did not complete are left out.
 */
export function receiptParts({ task, detail, result, usage, status, contentRemovedAt }: DetailedRecord): ReceiptParts {
  const used = usage ? { usage } : {};
  if (contentRemovedAt !== undefined) return { ...([...task].length < KEPT_TASK_CHARACTERS ? { task } : {}), ...used };
  if (!detail) return { task, ...used };
  const { input, context } = detail;
  return { task, input, context, ...(status === 'completed' ? { result } : {}), ...used };
}

/** The checks in words: those made, and those that could not be. */
export function checksOf(parts: ReceiptParts): { readonly made: readonly string[]; readonly left: readonly string[] } {
  const values = ['task', 'input', 'context', 'result'] as const;
  const named = (isThere: boolean) => values.filter((value) => value in parts === isThere);
  const matching = [...named(true), ...('usage' in parts ? ['usage'] : [])];
  return {
    made: [
      "The receipt was signed by the node's wallet and has not changed since.",
      'The chain and request match this page.',
      ...(matching.length > 0
        ? [`These values on this page match the hashes in the receipt: ${matching.join(', ')}.`]
        : []),
    ],
    left: named(false),
  };
}
