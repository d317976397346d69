import type { CallerKind, CallFace } from '@agent-network/contracts/agents/agent-calls';
import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../access/caller/caller.ts';
import { budgetOf } from '../../access/caller/spending-limits.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import type { HasTypeChecks } from '../../agents/types/type-checks.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { Payer } from '../../payments/ledger/scheme-id.ts';
import type { HasProcessId } from '../../queue/heartbeat.ts';
import type { Invocation, PaymentMethod } from '../invocation.ts';
import { estimatedTime } from '../price.ts';
import type { Choice } from './choose-agent.ts';
import type { KeylessPayer } from './invocation-purchase.ts';

/** Kind of a caller, as shown to the owner of the called agent. */
export function callerKindOf(caller: KnownCaller): CallerKind {
  if (caller.kind === 'agent') return 'agent';
  return caller.node === null ? 'account' : 'node';
}

/** True if the chunks of such a call are held back until its result was judged. */
export const isHeldBack = async (
  { typeChecks }: HasTypeChecks,
  { typesId, showsUnjudged }: Pick<CallableAgent, 'typesId' | 'showsUnjudged'>,
  { capability }: Pick<InvocationRequest, 'capability'>,
): Promise<boolean> => !showsUnjudged && (await typeChecks.judgesResult({ typesId, capability: capability ?? null }));

interface Input {
  readonly body: InvocationRequest;
  readonly isStreamed: boolean;
  readonly face: CallFace;
  readonly keyless?: KeylessPayer;
}

/** Decisions about a call beside its agent. */
interface Settled extends Payer {
  readonly id: string;
  readonly method: PaymentMethod;
  readonly priceMicro: bigint;
  readonly deadline: Date;
  /** True if its chunks are shown only once it has completed. */
  readonly isHeldBack: boolean;
  /** True if it waits for a place in the line of its account. */
  readonly isQueued: boolean;
  /** True if a payment on chain has to settle before it runs. */
  readonly hasToSettle: boolean;
}

/** The invocation as it will be stored. */
export function newInvocation(
  ctx: HasClock & HasProcessId,
  caller: KnownCaller,
  { agent, requestedAgentId, chosen, shownShare }: Choice,
  input: Input,
  settled: Settled,
): Invocation {
  const now = ctx.clock.now();
  const { isQueued } = settled;
  const isRunning = !settled.hasToSettle && !isQueued;
  return {
    id: settled.id,
    accountId: caller.accountId,
    callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
    callerKind: input.keyless ? 'wallet' : callerKindOf(caller),
    face: input.face,
    agentId: agent.id,
    requestedAgentId,
    chosen,
    bulkId: null,
    webhookUrl: input.body.webhookUrl ?? null,
    isStreamed: input.isStreamed,
    shownShare,
    isHeldBack: settled.isHeldBack,
    task: input.body.task,
    input: input.body.input,
    capability: input.body.capability ?? null,
    typesId: agent.typesId,
    context: input.body.context ?? null,
    metadata: input.body.metadata,
    priority: input.body.priority,
    priceMicro: settled.priceMicro,
    estimatedTime: estimatedTime(agent),
    deadline: settled.deadline,
    paymentMethod: settled.method,
    scheme: settled.scheme,
    payerLedgerId: settled.payerLedgerId,
    paymentHash: null,
    status: isRunning ? 'processing' : 'pending',
    worker: isQueued ? null : ctx.processId(),
    attempt: 1,
    result: null,
    costMicro: null,
    refundMicro: null,
    billedMicro: null,
    promisedMicro: null,
    returnedMicro: 0n,
    contentRemovedAt: null,
    budgetId: budgetOf(caller)?.budgetId ?? null,
    errorCode: null,
    errorMessage: null,
    createdAt: now,
    startedAt: isRunning ? now : null,
    completedAt: null,
  };
}
