import type { CallerKind, CallGateway } from '@agent-network/contracts/agents/agent-calls';
import type { Chosen } from '@agent-network/contracts/agents/match-score';
import type { FailureReason, Priority, RequestStatus } from '@agent-network/contracts/invocations/invocations';
import type { CallUsage } from '@agent-network/contracts/invocations/usage';
import { minMicro } from '@agent-network/contracts/money';
import { type StateTable, statesThatTake } from '../lib/state-table.ts';
import { holdExpiryOf, type RequestHold } from '../payments/ledger/hold.ts';
import type { SchemeId } from '../payments/ledger/scheme-id.ts';
import { costByUsage, type UsageClaim, type UsageTerms } from './usage/rate-usage.ts';

/** States inside the service: `pending`, one word on the wire and in the database, is two of them. */
export type InvocationState = 'queued' | 'awaitingPayment' | Exclude<RequestStatus, 'pending'>;

/** `start`: a queued request got a slot; `paid`: its payment on chain has settled. */
export type InvocationEvent = 'start' | 'paid' | 'complete' | 'fail' | 'cancel';

/** The state machine of an invocation. Ended states are final: the first end, by compare-and-set, decides where the money goes. */
export const invocationTransitions: StateTable<InvocationState, InvocationEvent> = {
  queued: { start: 'processing', paid: 'illegal', complete: 'illegal', fail: 'failed', cancel: 'cancelled' },
  awaitingPayment: { start: 'illegal', paid: 'processing', complete: 'illegal', fail: 'failed', cancel: 'cancelled' },
  processing: { start: 'ignored', paid: 'ignored', complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  completed: { start: 'ignored', paid: 'ignored', complete: 'ignored', fail: 'ignored', cancel: 'ignored' },
  failed: { start: 'ignored', paid: 'ignored', complete: 'ignored', fail: 'ignored', cancel: 'ignored' },
  cancelled: { start: 'ignored', paid: 'ignored', complete: 'ignored', fail: 'ignored', cancel: 'ignored' },
};

export function stateOf({ status, scheme }: Pick<Invocation, 'status' | 'scheme'>): InvocationState {
  if (status !== 'pending') return status;
  return scheme === 'exact' ? 'awaitingPayment' : 'queued';
}

const statusOf = (state: InvocationState): RequestStatus =>
  state === 'queued' || state === 'awaitingPayment' ? 'pending' : state;

/** The stored statuses in which an event has an effect: those that a store's compare-and-set expects. */
export const statusesThatTake = (event: InvocationEvent): RequestStatus[] => [
  ...new Set(statesThatTake(invocationTransitions, event).map(statusOf)),
];

export const hasEnded = (status: RequestStatus): boolean => !statusesThatTake('cancel').includes(status);

/** True for a call that came to nothing and cost nothing. An agent that bills by itself may have collected, and failed then. */
export const wasGivenBack = ({ status, costMicro }: Pick<Invocation, 'status' | 'costMicro'>): boolean =>
  (status === 'failed' || status === 'cancelled') && (costMicro ?? 0n) === 0n;

/** True while nothing that its agent says may be read: its result is not judged yet, or was found not to fit. */
export const isWithheld = ({ isHeldBack, status }: Pick<Invocation, 'isHeldBack' | 'status'>): boolean =>
  isHeldBack && status !== 'completed';

export type PaymentMethod = 'treasury' | 'x402' | 'free';

export interface Invocation {
  readonly id: string;
  readonly accountId: string;
  readonly callerAgentId: string | null;
  /** null: stored by an early version. */
  readonly callerKind: CallerKind | null;
  /** The way in which it came; null: stored by an early version. */
  readonly gateway: CallGateway | null;
  readonly agentId: string;
  /** The agent originally asked for, when a fallback was called instead. */
  readonly requestedAgentId: string | null;
  /** The node's reason for choosing the agent; null: the caller named it. */
  readonly chosen: Chosen | null;
  readonly task: string;
  /** The bulk request that it belongs to. */
  readonly bulkId: string | null;
  readonly webhookUrl: string | null;
  /** True when the agent was asked to stream. */
  readonly isStreamed: boolean;
  readonly input: Record<string, unknown>;
  /** Percent of the price that it costs when it is ended early after output was shown; null: all of it. */
  readonly shownShare: number | null;
  /** True when the agent's chunks are shown only once it has completed. */
  readonly isHeldBack: boolean;
  /** The capability that the call names; null: none. */
  readonly capability: string | null;
  /** The version of the agent's types that it was accepted with: its result is held to them. Null: the agent had none. */
  readonly typesId: string | null;
  readonly context: string | null;
  readonly metadata: Record<string, unknown>;
  readonly priority: Priority;
  /** The agreed price: the most that it costs, which is held. */
  readonly priceMicro: bigint;
  /** Terms of a price by usage; null: its cost is its price. */
  readonly usageTerms: UsageTerms | null;
  readonly estimatedTime: string;
  readonly deadline: Date;
  readonly paymentMethod: PaymentMethod;
  /** The payment scheme; null for a free call. */
  readonly scheme: SchemeId | null;
  /** The ledger account that pays; null for a free call. */
  readonly payerLedgerId: string | null;
  readonly paymentHash: string | null;
  readonly status: RequestStatus;
  readonly worker: string | null;
  readonly attempt: number;
  readonly result: unknown;
  /** Usage, once it has ended; null: unknown. */
  readonly usage: CallUsage | null;
  readonly costMicro: bigint | null;
  readonly refundMicro: bigint | null;
  /** Amount that the agent billed directly and the node signed for. */
  readonly billedMicro: bigint | null;
  /** Part of the bill that the agent's home node promised to return; null: unknown. */
  readonly promisedMicro: bigint | null;
  /** Part of the bill that has been returned. */
  readonly returnedMicro: bigint;
  /** Time at which retention removed input and result. */
  readonly contentRemovedAt: Date | null;
  /** The daily budget of the API key that it counts in; null when the key has none. */
  readonly budgetId: string | null;
  readonly errorCode: FailureReason | null;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

/** Reason of a cancellation: the caller asked for it, or its bulk request was decided without it. */
export type CancelReason = 'cancelled_by_caller' | 'bulk_decided';

/** The end of an agent's work. */
export type Outcome =
  | {
      readonly kind: 'completed';
      readonly result: unknown;
      readonly claimedMicro: bigint | null;
      /** The agent's claim; absent or null: it made none. */
      readonly usage?: UsageClaim | null;
    }
  | Failure;

/** `isUnasked`: the agent was not called. */
export interface Failure {
  readonly kind: 'failed';
  readonly reason: FailureReason;
  readonly message: string;
  readonly isUnasked?: true;
}

/**
 * Cost to the payer: for completed work, the lowest of the price, the agent's cost and, where the call is paid by usage, what its usage
 * comes to; otherwise nothing.
 */
export function costOf(
  outcome: Outcome,
  { priceMicro, usageTerms }: Pick<Invocation, 'priceMicro' | 'usageTerms'>,
  usage: CallUsage | null = null,
): bigint {
  if (outcome.kind === 'failed') return 0n;
  const usedMicro = usageTerms ? costByUsage(usageTerms, usage?.units ?? []) : priceMicro;
  return minMicro(priceMicro, usedMicro, outcome.claimedMicro ?? priceMicro);
}

type Paid = Pick<Invocation, 'id' | 'scheme' | 'payerLedgerId' | 'priceMicro' | 'deadline'>;

/** The holds for requests; none for free ones. */
export const holdsOf = (requests: readonly Paid[]): RequestHold[] =>
  requests.flatMap(({ id, scheme, payerLedgerId, priceMicro, deadline }) =>
    scheme === null || payerLedgerId === null
      ? []
      : [{ id, scheme, ledgerAccountId: payerLedgerId, amountMicro: priceMicro, expiresAt: holdExpiryOf(deadline) }],
  );
