import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import type { Outcome } from '../invocation.ts';

/**
 * Failures that a caller can bring about, by its deadline or by what it asks for, after it has read what the agent streamed. All others are
 * the agent's own, or the node's, and cost nothing.
 */
const paidFailures: ReadonlySet<FailureReason> = new Set([
  'deadline_exceeded',
  'agent_needs_input',
  'response_too_large',
]);

/** True for an end without a result at which output that was shown is paid for, whoever ended it. */
export const paysForShown = (outcome: Outcome | { readonly kind: 'cancelled' }): boolean =>
  outcome.kind === 'cancelled' || (outcome.kind === 'failed' && paidFailures.has(outcome.reason));

/** The cost of a call that is ended early after output was shown, rounded up. */
export const shownCost = (priceMicro: bigint, share: number | null): bigint =>
  (priceMicro * BigInt(share ?? 100) + 99n) / 100n;
