import type { BulkStrategy } from '@agent-network/contracts/invocations/bulk';
import type { RequestStatus } from '@agent-network/contracts/invocations/invocations';

/** The fields of a part of a bulk request that decide its strategy. */
export interface BulkPart {
  readonly id: string;
  readonly status: RequestStatus;
  /** Hash of a completed part's result as canonical JSON: equal results have equal hashes. */
  readonly resultHash: string | null;
  readonly completedAt: Date | null;
}

export type BulkDecision =
  | { readonly kind: 'open' }
  | { readonly kind: 'completed'; readonly winner: string | null }
  | { readonly kind: 'failed' };

const isOpen = ({ status }: BulkPart) => status === 'pending' || status === 'processing';
const isDone = ({ status }: BulkPart) => status === 'completed';

const earliestFirst = (a: BulkPart, b: BulkPart) => (a.completedAt?.getTime() ?? 0) - (b.completedAt?.getTime() ?? 0);

/** Decides the end and the result of a bulk request (docs/design.md, section 4, "bulk"). Parts that are still open then are cancelled. */
export function decideBulk(strategy: BulkStrategy, parts: readonly BulkPart[]): BulkDecision {
  const completed = parts.filter(isDone).sort(earliestFirst);
  const open = parts.filter(isOpen).length;
  if (strategy === 'first_success') {
    if (completed[0]) return { kind: 'completed', winner: completed[0].id };
    return open > 0 ? { kind: 'open' } : { kind: 'failed' };
  }
  if (strategy === 'majority') return decideMajority(parts, completed, open);
  if (open > 0) return { kind: 'open' };
  return completed.length > 0 ? { kind: 'completed', winner: null } : { kind: 'failed' };
}

/** More than half of all must agree; fails as soon as the open ones can no longer reach that. */
function decideMajority(parts: readonly BulkPart[], completed: readonly BulkPart[], open: number): BulkDecision {
  const groups = Map.groupBy(completed, ({ resultHash }) => resultHash);
  const needed = Math.floor(parts.length / 2) + 1;
  const largest = [...groups.values()].sort((a, b) => b.length - a.length)[0] ?? [];
  if (largest.length >= needed) return { kind: 'completed', winner: largest[0]?.id ?? null };
  return largest.length + open >= needed ? { kind: 'open' } : { kind: 'failed' };
}
