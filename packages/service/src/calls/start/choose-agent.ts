import type { CallerKind, CallGateway } from '@agent-network/contracts/agents/agent-calls';
import type { Chosen } from '@agent-network/contracts/agents/match-score';
import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { DEFAULT_INPUT_TIMEOUT_S } from '@agent-network/contracts/invocations/turns';
import { parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { budgetOf, requireWithinLimits } from '../../accounts/spending-limits.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import type { AgentServices } from '../../agents/agent-services.ts';
import { readTerms, type SaleTerms, termsGuard } from '../../agents/read-terms.ts';
import { unavailable } from '../../agents/search/find-agent.ts';
import { findAlternatives, nameAlternatives } from '../../agents/search/find-alternatives.ts';
import { AppError } from '../../lib/app-error.ts';
import type { Payer } from '../../payments/ledger/scheme-id.ts';
import type { PresentedPayment } from '../../payments/x402/presented-payment.ts';
import type { Store } from '../../store/database.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import type { Statement, Tx } from '../../store/sql.ts';
import type { Invocation, PaymentMethod } from '../invocation.ts';
import { type AgreementContext, expectedOf, toldSince } from '../pricing/agreed-price.ts';
import { findUnsteady, type SteadyTerms, steadyGuards } from '../pricing/agreed-terms-store.ts';
import { estimatedTime, priceOf, rateWithin } from '../pricing/price.ts';
import { isPassedOn, requireAtHome } from '../remote/require-at-home.ts';
import type { UsageTerms } from '../usage/rate-usage.ts';
import type { KeylessPayer, WantedCall } from './invocation-purchase.ts';

type ChoosingContext = AgentServices & AgreementContext;

/** The agent to call, and its price. */
export interface Choice {
  readonly agent: CallableAgent;
  readonly priceMicro: bigint;
  /** The terms of a call that is paid by usage, as its quote locked them; else as its agent states them; null: none. */
  readonly usageTerms: UsageTerms | null;
  /** Percent of the price that its quote locked for an early end; else as its agent states it; null: all of it. */
  readonly shownShare: number | null;
  /** The quote to use up; none for a fallback. */
  readonly quoteId: string | null;
  /** The agent originally asked for, when a fallback is called. */
  readonly requestedAgentId: string | null;
  /** The node's reason for choosing the agent; null: the caller named it. */
  readonly chosen: Chosen | null;
}

export interface AskedAgent extends WantedCall {
  readonly agent: CallableAgent;
  readonly priceMicro: bigint;
  readonly usageTerms: UsageTerms | null;
  /** Percent of the price that its quote locked for an early end; null: all of it. */
  readonly shownShare: number | null;
  readonly shown: PresentedPayment | null;
  /** The node that passes the call on; null: none. */
  readonly via: string | null;
  /** The alternative that the shown payment was offered for. */
  readonly offeredId: string | null;
}

/**
 * The agent asked for, when it can be called. Otherwise, with `fallback`: the alternative that a payment was offered for, or without a
 * payment the most similar available agent within the agreed cost and the key's permissions. Throws AGENT_UNAVAILABLE when there is none,
 * and when the shown payment is for an unavailable agent: only the offered agent is paid. Throws SPENDING_LIMIT_EXCEEDED for a call that
 * the key may not make.
 */
export async function chooseAgent(ctx: ChoosingContext, caller: KnownCaller, asked: AskedAgent): Promise<Choice> {
  const { agent, priceMicro, usageTerms, quoteId, shownShare } = asked;
  if (asked.offeredId !== null) return chooseOffered(ctx, caller, asked, asked.offeredId);
  const isWanted = agent.status === 'online' || !asked.body.fallback || asked.shown !== null;
  if (!isWanted) return chooseAlternative(ctx, caller, asked);
  requireWithinLimits(caller, agent.id, priceMicro);
  if (agent.status !== 'online') throw await unavailable(ctx, agent);
  return { agent, priceMicro, usageTerms, shownShare, quoteId, requestedAgentId: null, chosen: null };
}

async function chooseOffered(
  ctx: ChoosingContext,
  caller: KnownCaller,
  asked: AskedAgent,
  offeredId: string,
): Promise<Choice> {
  const agent = await ctx.agentFinder.find(offeredId);
  if (agent?.status !== 'online')
    throw new AppError(
      'AGENT_UNAVAILABLE',
      'The offered alternative is offline. Nothing was charged; repeat the call without the payment for a new offer.',
      {
        agentId: offeredId,
        lastSeen: (agent ?? asked.agent).lastSeenAt.toISOString(),
        alternatives: await nameAlternatives(ctx, agent ?? asked.agent),
      },
    );
  requireAtHome(agent, caller, asked.via);
  await ctx.typeChecks.requireInput(agent, asked.body, caller);
  const choice = toChoice(asked, agent);
  requireWithinLimits(caller, agent.id, choice.priceMicro);
  return choice;
}

async function chooseAlternative(ctx: ChoosingContext, caller: KnownCaller, asked: AskedAgent): Promise<Choice> {
  const isNamed = asked.body.maxCost !== undefined || asked.quoteId !== null;
  const expectedMicro = isNamed ? asked.priceMicro : await expectedOf(ctx, caller, asked);
  const maxMicro = agreedMicro(caller, { ...asked, priceMicro: expectedMicro });
  const alternatives = await findAlternatives(ctx, asked.agent, {
    maxPerRequestMicro: rateWithin(maxMicro, asked.body),
    among: caller.kind === 'account' ? caller.limits.allowedAgents : null,
    except: caller.kind === 'agent' ? [caller.agentId] : [],
  });
  for (const { agentId } of alternatives) {
    const agent = await ctx.agentFinder.find(agentId);
    if (agent?.status !== 'online' || (agent.home && isPassedOn(caller, asked.via))) continue;
    if (!(await ctx.typeChecks.fits(agent, asked.body, caller))) continue;
    const choice = toChoice(asked, agent);
    if (choice.priceMicro <= maxMicro) return choice;
  }
  throw await unavailable(ctx, asked.agent);
}

function toChoice({ agent: { id }, body }: AskedAgent, agent: CallableAgent): Choice {
  const { totalMicro: priceMicro, usageTerms } = priceOf(agent, body);
  const { shownShare } = agent;
  return { agent, priceMicro, usageTerms, shownShare, quoteId: null, requestedAgentId: id, chosen: null };
}

/** Maximum cost of an alternative: `maxCost`, or else the expected price of the agent asked for; within the quote and the key's limits. */
function agreedMicro(caller: KnownCaller, { body, priceMicro, quoteId }: AskedAgent): bigint {
  const agreed = [body.maxCost === undefined ? priceMicro : parseUsdc(body.maxCost)];
  if (quoteId !== null) agreed.push(priceMicro);
  if (caller.kind === 'account')
    for (const limit of [caller.limits.perCallMicro, caller.limits.perDayMicro]) if (limit !== null) agreed.push(limit);
  return agreed.sort((a, b) => (a < b ? -1 : 1))[0] as bigint;
}

/** The sale of a call, as decided before its request is stored. */
export interface Sale {
  readonly agent: Pick<
    CallableAgent,
    'id' | 'perRequestMicro' | 'takesHints' | 'perUnit' | 'perUsage' | 'sizeSteps' | 'typesId' | 'shownShare'
  >;
  /** True when a quote or a signed offer sets the price. */
  readonly isPriceLocked: boolean;
  /** The account assumed to have paid this agent by these terms already, which acceptance verifies; null: its agreed terms were read. */
  readonly steadyFor: string | null;
}

/** The agent was withdrawn, costs something else, or takes another input, since the sale was decided. Nothing was charged or stored. */
export class AgentChangedError extends Error {
  readonly agentId: string;

  constructor(agentId: string) {
    super(`agent ${agentId} changed while a call of it was accepted`);
    this.agentId = agentId;
  }
}

/**
 * The sales that no longer hold, by the current rows of their agents. Sales are decided with cached agents, some time before their requests
 * are stored; the row in the transaction that holds the money counts.
 */
export async function findChanged(ctx: Store, tx: Tx, sales: readonly Sale[]): Promise<ReadonlySet<Sale>> {
  const assumed = sales.filter(({ steadyFor }) => steadyFor !== null);
  const [terms, unsteady] = await Promise.all([
    readTerms(
      tx,
      sales.map(({ agent }) => agent.id),
    ),
    findUnsteady(tx, assumed.flatMap(steadyOf), toldSince(ctx)),
  ]);
  const changed = sales.filter((sale) => !holds(sale, terms.get(sale.agent.id)));
  return new Set([...changed, ...assumed.filter((_, index) => unsteady.has(index))]);
}

/** Flush guards that fail unless all of these sales still hold. */
export const salesGuards = (ctx: Store, sales: readonly Sale[]): Statement[] => [
  termsGuard(sales.map(({ agent, isPriceLocked }) => ({ ...agent, isPriceLocked }))),
  ...steadyGuards(sales.flatMap(steadyOf), toldSince(ctx)),
];

const steadyOf = ({ agent, steadyFor }: Sale): SteadyTerms[] =>
  steadyFor === null ? [] : [{ accountId: steadyFor, agentId: agent.id, rate: agent }];

const holds = ({ agent, isPriceLocked }: Sale, now: SaleTerms | undefined): boolean =>
  now !== undefined &&
  now.status === 'online' &&
  now.typesId === agent.typesId &&
  (isPriceLocked || isSamePrice(now, agent));

const isSamePrice = (now: SaleTerms, then: Sale['agent']): boolean =>
  now.perRequestMicro === then.perRequestMicro &&
  now.takesHints === then.takesHints &&
  now.shownShare === then.shownShare &&
  JSON.stringify([now.perUnit, now.perUsage, now.sizeSteps]) ===
    JSON.stringify([then.perUnit, then.perUsage, then.sizeSteps]);

const MAX_TRIES = 5;

/** Decides a call again, with the current agent, if the agent has changed since. */
export async function retryOnAgentChange<T>(ctx: AgentServices, decide: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof AgentChangedError)) throw error;
      if (tries === MAX_TRIES)
        throw new AppError('UNAVAILABLE', 'The agent is being changed. Nothing was charged; try again.', {
          details: { outcome: 'nothing' },
        });
      ctx.agentFinder.forget(error.agentId);
    }
  }
}

/** Kind of a caller, as shown to the owner of the called agent. */
export function callerKindOf(caller: KnownCaller): CallerKind {
  if (caller.kind === 'agent') return 'agent';
  return caller.node === null ? 'account' : 'node';
}

/** True if the chunks of such a call are held back until its result was validated. */
export const isHeldBack = async (
  { typeChecks }: AgentServices,
  { typesId, showsUnjudged }: Pick<CallableAgent, 'typesId' | 'showsUnjudged'>,
  { capability }: Pick<InvocationRequest, 'capability'>,
): Promise<boolean> => !showsUnjudged && (await typeChecks.judgesResult({ typesId, capability: capability ?? null }));

interface Input {
  readonly body: InvocationRequest;
  readonly isStreamed: boolean;
  readonly gateway: CallGateway;
  readonly keyless?: KeylessPayer;
}

/** Decisions about a call, apart from its agent. */
interface Settled extends Payer {
  readonly id: string;
  readonly method: PaymentMethod;
  readonly priceMicro: bigint;
  readonly deadline: Date;
  /** True if its chunks are shown only once it has completed. */
  readonly isHeldBack: boolean;
  /** True if it waits for a slot in the line of its account. */
  readonly isQueued: boolean;
  /** True if a payment on chain has to settle before it runs. */
  readonly hasToSettle: boolean;
}

/** The invocation as it will be stored. */
export function newInvocation(
  ctx: Store & NodeProcess,
  caller: KnownCaller,
  { agent, requestedAgentId, chosen, shownShare, usageTerms }: Choice,
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
    gateway: input.gateway,
    agentId: agent.id,
    requestedAgentId,
    chosen,
    bulkId: null,
    webhookUrl: input.body.webhookUrl ?? null,
    isStreamed: input.isStreamed,
    shownShare,
    isHeldBack: settled.isHeldBack,
    inputTimeoutS: input.body.interactive ? (input.body.inputTimeout ?? DEFAULT_INPUT_TIMEOUT_S) : null,
    turn: 1,
    turns: input.body.interactive ? [] : null,
    task: input.body.task,
    input: input.body.input,
    capability: input.body.capability ?? null,
    typesId: agent.typesId,
    context: input.body.context ?? null,
    metadata: input.body.metadata,
    priority: input.body.priority,
    priceMicro: settled.priceMicro,
    usageTerms,
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
    usage: null,
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
