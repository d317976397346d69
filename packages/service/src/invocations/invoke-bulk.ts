import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { BulkRecord, BulkRequest } from '@agent-network/contracts/invocations';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../access/caller.ts';
import { isStillKept } from '../access/idempotency.ts';
import type { CallableAgent } from '../agents/agent.ts';
import { requireAgent, requireOnline } from '../agents/find-agent.ts';
import { invalid } from '../lib/app-error.ts';
import { newId } from '../lib/id.ts';
import { holdMoney } from '../payments/hold-money.ts';
import { agentTreasuryId, treasuryOf } from '../payments/treasury.ts';
import { tellBulkEnded } from './bulk.ts';
import { type Bulk, findBulk, insertBulk } from './bulk-store.ts';
import { decideBulk } from './bulk-strategy.ts';
import { toBulkRecord, toBulkResult } from './bulk-view.ts';
import { deadlineOf } from './deadline.ts';
import { tellEnded } from './end-invocations.ts';
import { hasEnded, type Invocation } from './invocation.ts';
import { findBulkRequests, insertInvocations } from './invocation-store.ts';
import { type InvokeContext, insufficient } from './invoke-agent.ts';
import { estimatedTime, priceOf } from './price.ts';
import { requireOwn } from './read-invocation.ts';
import { runOn } from './runner.ts';

type BulkResult = DataOf<Api['invokeBulk']>;

export interface BulkInput {
  readonly body: BulkRequest;
  /** The id that the bulk request must have: a repetition under the same Idempotency-Key finds it. */
  readonly bulkId: string | null;
}

interface Part {
  readonly agent: CallableAgent;
  readonly priceMicro: bigint;
  readonly isCallable: boolean;
}

/**
 * Starts one request for each agent, all or none: the money for the worst case is set aside in the transaction that stores them.
 * An agent that can't be called now fails at once and costs nothing; when none can, nothing is started. Paid from a treasury.
 */
export async function invokeBulk(
  ctx: InvokeContext,
  caller: KnownCaller,
  { body, bulkId }: BulkInput,
): Promise<{ data: BulkResult; isReplay: boolean }> {
  const repeated = bulkId === null ? null : await findBulk(ctx.db, bulkId);
  if (repeated && isStillKept(repeated.createdAt, ctx.clock.now()))
    return { data: toBulkResult(repeated, await findBulkRequests(ctx.db, repeated.id)), isReplay: true };
  const parts = await Promise.all(body.agents.map((id) => partOf(ctx, id, body)));
  const first = parts[0];
  if (first && parts.every(({ isCallable }) => !isCallable)) await requireOnline(ctx, first.agent.id);
  const now = ctx.clock.now();
  const deadline = deadlineOf(body.deadline, now);
  const totalMicro = parts.reduce((sum, { isCallable, priceMicro }) => (isCallable ? sum + priceMicro : sum), 0n);
  const payerId = totalMicro === 0n ? null : await payerOf(ctx, caller, totalMicro);
  const bulk: Bulk = {
    id: bulkId === null || repeated ? newId('blk') : bulkId,
    accountId: caller.accountId,
    callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
    strategy: body.strategy,
    status: 'processing',
    winner: null,
    webhookUrl: body.webhookUrl ?? null,
    createdAt: now,
    completedAt: null,
  };
  const ids = parts.map(() => newId('req')).sort();
  const requests = parts.map((part, index) =>
    toInvocation(ctx, caller, body, bulk, { ...part, requestId: ids[index] as string }, { payerId, deadline, now }),
  );
  const begun = unlessLost(bulk, requests);
  await store(ctx, caller, begun.bulk, begun.requests);
  for (const [index, invocation] of begun.requests.entries()) {
    const agent = parts[index]?.agent;
    if (agent && invocation.status === 'processing')
      void ctx.runner.track(invocation.id, (signal) => runOn(ctx, invocation, agent, signal));
  }
  return { data: toBulkResult(begun.bulk, begun.requests), isReplay: false };
}

async function partOf(ctx: InvokeContext, agentId: string, body: BulkRequest): Promise<Part> {
  const agent = await requireAgent(ctx, agentId);
  const priceMicro = priceOf(agent.perRequestMicro, body.task, body.input).totalMicro;
  if (body.maxCostPerAgent !== undefined && parseUsdc(body.maxCostPerAgent) < priceMicro)
    throw invalid('maxCostPerAgent', `is below the price of ${formatUsdc(priceMicro)} USDC of agent ${agentId}`);
  return { agent, priceMicro, isCallable: agent.status === 'online' };
}

async function payerOf(ctx: InvokeContext, caller: KnownCaller, totalMicro: bigint): Promise<string> {
  if (caller.kind === 'agent') return agentTreasuryId(caller.agentId);
  const treasury = await treasuryOf(ctx, caller.accountId);
  if (!treasury) throw insufficient(caller, totalMicro, 0n);
  return treasury;
}

function toInvocation(
  ctx: InvokeContext,
  caller: KnownCaller,
  body: BulkRequest,
  bulk: Bulk,
  { agent, priceMicro, isCallable, requestId }: Part & { requestId: string },
  settled: { payerId: string | null; deadline: Date; now: Date },
): Invocation {
  const isFree = priceMicro === 0n;
  return {
    id: requestId,
    accountId: caller.accountId,
    callerAgentId: bulk.callerAgentId,
    agentId: agent.id,
    bulkId: bulk.id,
    webhookUrl: null,
    isStreamed: false,
    task: body.task,
    input: body.input,
    context: body.context ?? null,
    metadata: body.metadata,
    priority: body.priority,
    priceMicro,
    estimatedTime: estimatedTime(agent.averageMs),
    deadline: settled.deadline,
    paymentMethod: isFree ? 'free' : 'treasury',
    payerLedgerId: isFree || !isCallable ? null : settled.payerId,
    paymentHash: null,
    status: isCallable ? 'processing' : 'failed',
    worker: ctx.processId(),
    attempt: 1,
    result: null,
    costMicro: isCallable ? null : 0n,
    refundMicro: isCallable ? null : 0n,
    errorCode: isCallable ? null : 'agent_unreachable',
    errorMessage: isCallable ? null : 'The agent was offline.',
    createdAt: settled.now,
    startedAt: isCallable ? settled.now : null,
    completedAt: isCallable ? null : settled.now,
  };
}

/** Offline agents may put an outcome out of reach from the start: then nobody is called. */
function unlessLost(bulk: Bulk, requests: readonly Invocation[]): { bulk: Bulk; requests: readonly Invocation[] } {
  if (decideBulk(bulk.strategy, requests).kind === 'open') return { bulk, requests };
  const nothing = { costMicro: 0n, refundMicro: 0n, payerLedgerId: null, startedAt: null, completedAt: bulk.createdAt };
  return {
    bulk: { ...bulk, status: 'failed', completedAt: bulk.createdAt },
    requests: requests.map((each) =>
      hasEnded(each.status) ? each : { ...each, status: 'cancelled' as const, ...nothing },
    ),
  };
}

async function store(
  ctx: InvokeContext,
  caller: KnownCaller,
  bulk: Bulk,
  requests: readonly Invocation[],
): Promise<void> {
  const now = bulk.createdAt;
  await ctx.db.transaction(async (tx) => {
    const holding = requests.flatMap(({ id, payerLedgerId, priceMicro }) =>
      payerLedgerId ? [{ id, ledgerAccountId: payerLedgerId, amountMicro: priceMicro }] : [],
    );
    const holds = await holdMoney(tx, holding, now);
    if (holds.some(({ isHeld }) => !isHeld)) {
      const requiredMicro = holding.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);
      throw insufficient(caller, requiredMicro, holds[0]?.availableMicro ?? 0n);
    }
    await insertBulk(tx, bulk);
    await insertInvocations(tx, requests);
    await tellEnded(
      tx,
      requests.filter(({ status }) => hasEnded(status)),
      now,
    );
    if (bulk.status !== 'processing') await tellBulkEnded(tx, bulk, now);
  });
}

/** A bulk request of the caller's with its requests and, once decided, its outcome. */
export async function readBulk(ctx: InvokeContext, caller: KnownCaller, bulkId: string): Promise<BulkRecord> {
  const bulk = requireOwn(await findBulk(ctx.db, bulkId), caller, 'bulk request');
  return toBulkRecord(bulk, await findBulkRequests(ctx.db, bulkId));
}
