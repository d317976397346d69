import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import type { PaidOutcome } from '../../agents/reputation/paid-outcome.ts';
import type { SchemeId } from '../../payments/ledger/scheme-id.ts';
import { payingWalletOf } from '../../payments/ledger/treasury.ts';
import type { Failure, Invocation, Outcome } from '../invocation.ts';

/** An agent that was given less time than this can't be blamed for missing the deadline. */
const FAIR_MS = 30_000;

/**
 * Failures that are not known to be the agent's doing, and no failed calls of it: it had no chance to answer, its home node found that the
 * input does not fit its schema, or the node was restored and lost how the call had ended. A home that does not call its agent and keeps the
 * money is another matter.
 */
export const isOthersFault = ({ costMicro }: Pick<Invocation, 'costMicro'>, { reason, isUnasked }: Failure): boolean =>
  (isUnasked === true && (costMicro ?? 0n) === 0n) || othersFaults.has(reason);

const othersFaults: ReadonlySet<FailureReason> = new Set([
  'payment_failed',
  'agent_removed',
  'input_invalid',
  'node_restored',
]);

/** Known of an end beside it: the time at which the agent was called, and the wallet of the channel that paid by voucher. */
interface Known {
  readonly askedAt: Date;
  readonly channelPayer: string | null;
}

/** The evidence of an ended paid invocation about its agent; null when nothing was paid, or when the end says nothing of the agent. */
export function paidOutcomeOf(
  invocation: Invocation,
  outcome: Outcome,
  { askedAt, channelPayer }: Known,
): PaidOutcome | null {
  const { id: requestId, agentId, accountId, scheme, paymentHash } = invocation;
  if (scheme === null || !hasComeIn(scheme, paymentHash, channelPayer)) return null;
  const isGood = outcome.kind === 'completed';
  if (!isGood && saysNothing(invocation, outcome, askedAt)) return null;
  const amountMicro = isGood ? (invocation.costMicro ?? 0n) : invocation.priceMicro;
  if (amountMicro === 0n) return null;
  const wallet = channelPayer ?? payingWalletOf(invocation) ?? '';
  return { requestId, agentId, accountId, wallet, amountMicro, isGood };
}

/** True if the payment is there: a wallet's is on chain, a channel has been charged. */
const hasComeIn = (scheme: SchemeId, paymentHash: string | null, channelPayer: string | null): boolean =>
  ({ treasury: true, exact: paymentHash !== null, 'batch-settlement': channelPayer !== null })[scheme];

const saysNothing = (invocation: Invocation, failure: Failure, askedAt: Date): boolean =>
  isOthersFault(invocation, failure) || isHurried(invocation, failure, askedAt) || isUnclear(invocation, failure);

/** Any caller can bring about by an unclear task that an agent asks for more; unless the agent kept money, that cost the caller nothing. */
const isUnclear = ({ costMicro, promisedMicro }: Invocation, { reason }: Failure): boolean =>
  reason === 'agent_needs_input' && (costMicro ?? 0n) <= (promisedMicro ?? 0n);

/** The time that a call waited for its place is the caller's own: it may be one that the caller has made full. */
const isHurried = ({ deadline }: Invocation, { reason }: Failure, askedAt: Date): boolean =>
  reason === 'deadline_exceeded' && deadline.getTime() - askedAt.getTime() < FAIR_MS;
