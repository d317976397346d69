import type { FailureReason, Priority, RequestStatus } from '@agent-network/contracts/invocations/invocations';

/** What can happen to an invocation. `begin`: it is paid, or needs no payment that has to be waited for. */
export type InvocationEvent = 'begin' | 'complete' | 'fail' | 'cancel';

/** The life of an invocation. What has ended stays ended: whoever ends it first, by compare-and-set, decides where the money goes. */
export const invocationTransitions: Record<
  RequestStatus,
  Record<InvocationEvent, RequestStatus | 'ignored' | 'illegal'>
> = {
  pending: { begin: 'processing', complete: 'illegal', fail: 'failed', cancel: 'cancelled' },
  processing: { begin: 'ignored', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  completed: { begin: 'ignored', complete: 'ignored', fail: 'ignored', cancel: 'ignored' },
  failed: { begin: 'ignored', complete: 'ignored', fail: 'ignored', cancel: 'ignored' },
  cancelled: { begin: 'ignored', complete: 'ignored', fail: 'ignored', cancel: 'ignored' },
};

/** The states in which an event has an effect: what a store compares with when it sets. */
export const statesThatTake = (event: InvocationEvent): RequestStatus[] =>
  (Object.keys(invocationTransitions) as RequestStatus[]).filter((status) => {
    const next = invocationTransitions[status][event];
    return next !== 'ignored' && next !== 'illegal';
  });

export const hasEnded = (status: RequestStatus): boolean => statesThatTake('cancel').every((open) => open !== status);

export type PaymentMethod = 'treasury' | 'x402' | 'free';

export interface Invocation {
  readonly id: string;
  readonly accountId: string;
  readonly callerAgentId: string | null;
  readonly agentId: string;
  /** The agent that was asked for, when another took its place. */
  readonly requestedAgentId: string | null;
  readonly task: string;
  /** The bulk request that it is part of. */
  readonly bulkId: string | null;
  readonly webhookUrl: string | null;
  /** Whether the agent was asked to stream. */
  readonly isStreamed: boolean;
  readonly input: Record<string, unknown>;
  readonly context: string | null;
  readonly metadata: Record<string, unknown>;
  readonly priority: Priority;
  readonly priceMicro: bigint;
  readonly estimatedTime: string;
  readonly deadline: Date;
  readonly paymentMethod: PaymentMethod;
  /** The ledger account that pays; null for a free call. */
  readonly payerLedgerId: string | null;
  readonly paymentHash: string | null;
  readonly status: RequestStatus;
  readonly worker: string | null;
  readonly attempt: number;
  readonly result: unknown;
  readonly costMicro: bigint | null;
  readonly refundMicro: bigint | null;
  /** What the agent billed directly; the node has signed for it. */
  readonly billedMicro: bigint | null;
  /** What the agent's home said that it gives back of that; null: it has not said. */
  readonly promisedMicro: bigint | null;
  /** What of it has come. */
  readonly returnedMicro: bigint;
  /** When input and result were removed, as their time was over. */
  readonly contentRemovedAt: Date | null;
  /** The budget of the API key that it was counted in; null when the key has no limit of the day. */
  readonly budgetId: string | null;
  readonly errorCode: FailureReason | null;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

/** How the agent's work ended. */
export type Outcome =
  | { readonly kind: 'completed'; readonly result: unknown; readonly claimedMicro: bigint | null }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly message: string };

/** What an outcome costs the payer: for work done, the agent's own price if that is lower; for nothing, nothing. */
export function costOf(outcome: Outcome, priceMicro: bigint): bigint {
  if (outcome.kind === 'failed') return 0n;
  return outcome.claimedMicro !== null && outcome.claimedMicro < priceMicro ? outcome.claimedMicro : priceMicro;
}
