import type { CallerKind } from '@agent-network/contracts/agents/agent-calls';
import type { BulkRequest } from '@agent-network/contracts/invocations/bulk';
import type { CallableAgent } from '../../agents/agent.ts';
import { hasEnded, type Invocation } from '../invocation.ts';
import { estimatedTime } from '../price.ts';
import type { Bulk } from './bulk-store.ts';
import { decideBulk } from './bulk-strategy.ts';

/** One agent's part of a bulk request. */
export interface BulkPart {
  readonly agent: CallableAgent;
  readonly priceMicro: bigint;
  readonly isCallable: boolean;
  readonly isHeldBack: boolean;
}

export interface BulkPlan {
  readonly bulk: Bulk;
  readonly requests: readonly Invocation[];
}

export interface BulkTerms {
  readonly body: BulkRequest;
  readonly callerKind: CallerKind;
  readonly worker: string;
  readonly payerId: string | null;
  readonly budgetId: string | null;
  readonly deadline: Date;
  /** In ascending order: requests are read back in the order of the agents. */
  readonly requestIds: readonly string[];
}

/** The requests of a bulk request, all to be called at once; those for unavailable agents have failed. */
export function planBulk(bulk: Bulk, parts: readonly BulkPart[], terms: BulkTerms): BulkPlan {
  const requests = parts.map((part, index) => toInvocation(bulk, part, terms.requestIds[index] as string, terms));
  return unlessLost({ bulk, requests });
}

/** Queues the requests that have no place. */
export const putInLine = (requests: readonly Invocation[], waiting: ReadonlySet<string>): Invocation[] =>
  requests.map((request) =>
    waiting.has(request.id) ? { ...request, status: 'pending' as const, worker: null, startedAt: null } : request,
  );

function toInvocation(bulk: Bulk, part: BulkPart, id: string, terms: BulkTerms): Invocation {
  const { body, worker, payerId, budgetId, deadline } = terms;
  const { agent, priceMicro, isCallable } = part;
  const isFree = priceMicro === 0n;
  return {
    id,
    accountId: bulk.accountId,
    callerAgentId: bulk.callerAgentId,
    callerKind: terms.callerKind,
    face: 'rest',
    agentId: agent.id,
    requestedAgentId: null,
    chosen: null,
    bulkId: bulk.id,
    webhookUrl: null,
    isStreamed: false,
    shownShare: agent.shownShare,
    isHeldBack: part.isHeldBack,
    task: body.task,
    input: body.input,
    capability: body.capability ?? null,
    typesId: agent.typesId,
    context: body.context ?? null,
    metadata: body.metadata,
    priority: body.priority,
    priceMicro,
    estimatedTime: estimatedTime(agent),
    deadline,
    paymentMethod: isFree ? 'free' : 'treasury',
    scheme: isFree || !isCallable ? null : 'treasury',
    payerLedgerId: isFree || !isCallable ? null : payerId,
    paymentHash: null,
    status: isCallable ? 'processing' : 'failed',
    worker,
    attempt: 1,
    result: null,
    costMicro: isCallable ? null : 0n,
    refundMicro: isCallable ? null : 0n,
    billedMicro: null,
    promisedMicro: null,
    returnedMicro: 0n,
    contentRemovedAt: null,
    budgetId: isCallable ? budgetId : null,
    errorCode: isCallable ? null : 'agent_unreachable',
    errorMessage: isCallable ? null : 'The agent was offline.',
    createdAt: bulk.createdAt,
    startedAt: isCallable ? bulk.createdAt : null,
    completedAt: isCallable ? null : bulk.createdAt,
  };
}

/** Starts no request when unavailable agents make the strategy's goal impossible from the start. */
function unlessLost({ bulk, requests }: BulkPlan): BulkPlan {
  const planned = requests.map(({ id, status, completedAt }) => ({ id, status, completedAt, resultHash: null }));
  if (decideBulk(bulk.strategy, planned).kind === 'open') return { bulk, requests };
  const nothing = {
    costMicro: 0n,
    refundMicro: 0n,
    scheme: null,
    payerLedgerId: null,
    startedAt: null,
    completedAt: bulk.createdAt,
  };
  return {
    bulk: { ...bulk, status: 'failed', completedAt: bulk.createdAt },
    requests: requests.map((each) =>
      hasEnded(each.status) ? each : { ...each, status: 'cancelled' as const, ...nothing },
    ),
  };
}
