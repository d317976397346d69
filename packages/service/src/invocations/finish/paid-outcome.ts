import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import type { Outcome as PaidOutcome } from '../../agents/reputation/outcome.ts';
import { payerAddressOf } from '../../payments/ledger/treasury.ts';
import type { Invocation, Outcome } from '../invocation.ts';

/** An agent that was given less time than this can't be blamed for missing the deadline. */
const FAIR_MS = 30_000;

/** Failures that are not the agent's doing, and no failed calls of it: it had no chance to answer, or its home node found that the input does not fit its schema. */
export const isOthersFault = (reason: FailureReason): boolean =>
  reason === 'payment_failed' || reason === 'agent_removed' || reason === 'input_invalid';

/** The evidence of an ended paid invocation about its agent (`channelPayer`: the wallet of the channel that paid by voucher); null when nothing was paid, or when the end says nothing of the agent. */
export function paidOutcomeOf(
  invocation: Invocation,
  outcome: Outcome,
  channelPayer: string | null = null,
): PaidOutcome | null {
  const { id: requestId, agentId, accountId, paymentMethod, paymentHash, payerLedgerId } = invocation;
  if (payerLedgerId === null || (paymentMethod === 'x402' && paymentHash === null && channelPayer === null))
    return null;
  const isGood = outcome.kind === 'completed';
  if (!isGood && saysNothing(invocation, outcome.reason)) return null;
  const amountMicro = isGood ? (invocation.costMicro ?? 0n) : invocation.priceMicro;
  if (amountMicro === 0n) return null;
  const wallet = channelPayer ?? payerAddressOf(payerLedgerId) ?? '';
  return { requestId, agentId, accountId, wallet, amountMicro, isGood };
}

const saysNothing = (invocation: Invocation, reason: FailureReason): boolean =>
  isOthersFault(reason) || isHurried(invocation, reason) || isUnclear(invocation, reason);

/** Any caller can bring about by an unclear task that an agent asks for more; unless the agent kept money, that cost the caller nothing. */
const isUnclear = ({ costMicro, promisedMicro }: Invocation, reason: FailureReason): boolean =>
  reason === 'agent_needs_input' && (costMicro ?? 0n) <= (promisedMicro ?? 0n);

const isHurried = ({ deadline, startedAt, createdAt }: Invocation, reason: FailureReason): boolean =>
  reason === 'deadline_exceeded' && deadline.getTime() - (startedAt ?? createdAt).getTime() < FAIR_MS;
