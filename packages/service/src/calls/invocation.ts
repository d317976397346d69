import type { CallerKind, CallGateway } from '@agent-network/contracts/agents/agent-calls';
import type { Chosen } from '@agent-network/contracts/agents/match-score';
import type { FailureReason, Priority, RequestStatus } from '@agent-network/contracts/invocations/invocations';
import type { InputAction, InputRequest } from '@agent-network/contracts/invocations/turns';
import type { CallUsage } from '@agent-network/contracts/invocations/usage';
import { minMicro } from '@agent-network/contracts/money';
import type { ResultFile } from '../files/file.ts';
import { type StateTable, statesThatTake } from '../lib/state-table.ts';
import { holdExpiryOf, type RequestHold } from '../payments/ledger/hold.ts';
import type { SchemeId } from '../payments/ledger/scheme-id.ts';
import { costByUsage, type UsageClaim, type UsageTerms } from './usage/rate-usage.ts';

/** States inside the service: `pending`, one word on the wire and in the database, is two of them. */
export type InvocationState = 'queued' | 'awaitingPayment' | Exclude<RequestStatus, 'pending'>;

/** `start`: a queued request got a slot; `paid`: its payment on chain has settled; `ask`: its agent asks the caller, who may `answer`. */
export type InvocationEvent = 'start' | 'paid' | 'ask' | 'answer' | 'complete' | 'fail' | 'cancel';

const unasked = { ask: 'illegal', answer: 'illegal' } as const;
const ended = {
  ...({ start: 'ignored', paid: 'ignored', ask: 'ignored', answer: 'ignored' } as const),
  ...({ complete: 'ignored', fail: 'ignored', cancel: 'ignored' } as const),
};

/** The state machine of an invocation. Ended states are final: the first end, by compare-and-set, decides where the money goes. */
export const invocationTransitions: StateTable<InvocationState, InvocationEvent> = {
  queued: {
    ...{ start: 'processing', paid: 'illegal', ...unasked, complete: 'illegal' },
    ...{ fail: 'failed', cancel: 'cancelled' },
  },
  awaitingPayment: {
    ...{ start: 'illegal', paid: 'processing', ...unasked, complete: 'illegal' },
    ...{ fail: 'failed', cancel: 'cancelled' },
  },
  processing: {
    ...{ start: 'ignored', paid: 'ignored', ask: 'input_required', answer: 'ignored' },
    ...{ complete: 'completed', fail: 'failed', cancel: 'cancelled' },
  },
  input_required: {
    ...{ start: 'ignored', paid: 'ignored', ask: 'ignored', answer: 'processing' },
    ...{ complete: 'illegal', fail: 'failed', cancel: 'cancelled' },
  },
  completed: ended,
  failed: ended,
  cancelled: ended,
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

/** True when nothing happens to a request by itself: it has ended, or waits for its caller. Whoever waits for it stops then. */
export const isAtRest = (status: RequestStatus): boolean => status === 'input_required' || hasEnded(status);

/** True for a call that came to nothing and cost nothing. An agent that bills by itself may have collected, and failed then. */
export const wasGivenBack = ({ status, costMicro }: Pick<Invocation, 'status' | 'costMicro'>): boolean =>
  (status === 'failed' || status === 'cancelled') && (costMicro ?? 0n) === 0n;

/** True while nothing that its agent says may be read: its result is not judged yet, or was found not to fit. */
export const isWithheld = ({ isHeldBack, status }: Pick<Invocation, 'isHeldBack' | 'status'>): boolean =>
  isHeldBack && status !== 'completed';

export type PaymentMethod = 'treasury' | 'x402' | 'free';

/** A question as its caller is shown it, as stored: times are texts. */
export interface AskedTurn {
  readonly turn: number;
  readonly inputId: string;
  readonly kind: InputRequest['kind'];
  readonly message: string;
  readonly schema: Record<string, unknown> | null;
  readonly url: string | null;
  readonly askedAt: string;
  readonly expiresAt: string;
  readonly answeredAt: string | null;
  readonly action: InputAction | null;
}

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
  /** Seconds that a question of the agent waits for its answer; null: the call is not interactive. */
  readonly inputTimeoutS: number | null;
  /** 1, and one more with each answer of the caller. */
  readonly turn: number;
  /** The questions, first to last; null: the call is not interactive. */
  readonly turns: readonly AskedTurn[] | null;
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
  /** The end of the time to run; while it waits for an answer, the time at which the question expires. */
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
      /** Contents that the result refers to, stored: they become files of the caller as it ends. Absent: none. */
      readonly files?: readonly ResultFile[];
    }
  | Failure;

/** The agent asks its caller, and goes on with the answer. */
export interface Asked {
  readonly kind: 'asks';
  readonly question: Question;
  /** JSON that the agent wants back with the answer; absent: none. */
  readonly state?: unknown;
  /** Id of the work at the upstream, or the address of its state; null: none. */
  readonly handle: string | null;
}

export interface Question {
  /** The agent's own id of it; null: none. */
  readonly agentInputId: string | null;
  readonly kind: InputRequest['kind'];
  readonly message: string;
  readonly schema: Record<string, unknown> | null;
  readonly url: string | null;
  /** Seconds after which the agent does not wait any more; null: it names none. */
  readonly timeoutS: number | null;
}

/** The result, failure or question of a call of an agent. */
export type AgentOutcome = Outcome | Asked;

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
