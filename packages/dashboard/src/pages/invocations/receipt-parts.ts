import { KEPT_TASK_CHARACTERS } from '@agent-network/contracts/invocations/invocations';
import type { DetailedRecord } from './invocation.ts';

/** The values that a receipt has hashes of, as far as the page still has them. */
export interface ReceiptParts {
  readonly task?: string;
  readonly input?: unknown;
  readonly context?: string | null;
  readonly result?: unknown;
}

/**
 * The contents that an invocation's receipt is checked against. Removed contents, a task that may have been shortened with them, and the
 * result of an invocation that did not complete are left out.
 */
export function receiptParts({ task, detail, result, status, contentRemovedAt }: DetailedRecord): ReceiptParts {
  if (contentRemovedAt !== undefined) return [...task].length < KEPT_TASK_CHARACTERS ? { task } : {};
  if (!detail) return { task };
  const { input, context } = detail;
  return { task, input, context, ...(status === 'completed' ? { result } : {}) };
}

/** The checks in words: those made, and those that could not be. */
export function checksOf(parts: ReceiptParts): { readonly made: readonly string[]; readonly left: readonly string[] } {
  const values = ['task', 'input', 'context', 'result'] as const;
  const named = (isThere: boolean) => values.filter((value) => value in parts === isThere);
  const matching = named(true);
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
