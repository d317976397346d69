import type { CallerKind } from '@agent-network/contracts/agents/agent-calls';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { BulkRecord, BulkRequest } from '@agent-network/contracts/invocations/bulk';
import { parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { countingFree } from '../../accounts/limits/free-calls.ts';
import { spend } from '../../accounts/limits/spend.ts';
import { budgetOf, dayExceeded, requireWithinLimits } from '../../accounts/spending-limits.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { requireAgent, requireOnline } from '../../agents/search/find-agent.ts';
import { requireFiles } from '../../files/file-refs.ts';
import { ownerOf } from '../../files/receive-file.ts';
import { invalid } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { holdMoney } from '../../payments/ledger/hold-money.ts';
import { LEDGER_LOCK_TIMEOUT_MS } from '../../payments/ledger/ledger-batcher.ts';
import { availableToPay, payingTreasury } from '../../payments/ledger/treasury.ts';
import type { Store } from '../../store/database.ts';
import { requireLiving } from '../../store/queue/require-living.ts';
import { run, type Tx } from '../../store/sql.ts';
import { deadlineOf } from '../deadline.ts';
import { type EndedInvocation, emitEnded } from '../finish/end-invocations.ts';
import { reportEnded } from '../finish/report-ended.ts';
import { hasEnded, holdsOf, type Invocation } from '../invocation.ts';
import { insertInvocations } from '../invocation-store.ts';
import { readKnown, requireAgreedPrices } from '../pricing/agreed-price.ts';
import { type AgreedTerms, recordAgreedTerms } from '../pricing/agreed-terms-store.ts';
import { estimatedTime, priceOf } from '../pricing/price.ts';
import { endedCounted } from '../read/count-calls.ts';
import { requireOwn } from '../read-invocation.ts';
import { findBulkRecords } from '../record-store.ts';
import { requireAtHome } from '../remote/require-at-home.ts';
import { runOn } from '../run/run-invocation.ts';
import { requireLine } from '../run/run-queued.ts';
import { tenantOf } from '../run/slots.ts';
import {
  AgentChangedError,
  callerKindOf,
  findChanged,
  isHeldBack,
  retryOnAgentChange,
  type Sale,
} from '../start/choose-agent.ts';
import type { InvokeContext } from '../start/invoke-input.ts';
import { belowPrice, insufficient } from '../start/require-payable.ts';
import { paceInputs, requireStorage } from '../storage.ts';
import type { UsageTerms } from '../usage/rate-usage.ts';
import { tellBulkEnded, toBulkRecord, toBulkResult } from './bulk.ts';
import { type Bulk, findBulk, insertBulk } from './bulk-store.ts';
import { decideBulk } from './bulk-strategy.ts';

type BulkResult = DataOf<Api['invokeBulk']>;

/**
 * Starts one request for each agent, all or none: money for the worst case is held in the transaction that stores them. Requests beyond the
 * free slots of this process are queued. An unavailable agent's request fails at once and costs nothing; when all are unavailable, nothing
 * is started. Paid from a treasury.
 */
export const invokeBulk = (
  ctx: InvokeContext,
  caller: KnownCaller,
  body: BulkRequest,
  arrival: BulkArrival = { client: null, once: unkeyed },
): Promise<BulkResult> => retryOnAgentChange(ctx, () => decide(ctx, caller, body, arrival));

interface BulkArrival {
  /** The network address of the caller; null: unknown. */
  readonly client: string | null;
  readonly once: Once;
}

async function decide(
  ctx: InvokeContext,
  caller: KnownCaller,
  body: BulkRequest,
  { client, once }: BulkArrival,
): Promise<BulkResult> {
  const parts = await Promise.all(body.agents.map((id) => partOf(ctx, caller, id, body)));
  for (const { agent } of parts) requireAtHome(agent, caller, null);
  const first = parts[0];
  if (first && parts.every(({ isCallable }) => !isCallable)) await requireOnline(ctx, first.agent.id);
  await requireStorage(ctx, caller);
  const now = ctx.clock.now();
  const deadline = deadlineOf(body.deadline, now);
  await requireFiles(ctx, body.input, { ownerId: ownerOf(caller), deadline });
  for (const { agent, priceMicro } of parts) requireWithinLimits(caller, agent.id, priceMicro);
  const called = parts.filter(({ isCallable }) => isCallable);
  const sold = called.map(({ agent, priceMicro }) => ({ agent, body, priceMicro }));
  const soldIds = sold.map(({ agent }) => agent.id);
  const agreed = requireAgreedPrices(ctx, caller, await readKnown(ctx, caller, soldIds), {
    ...{ calls: sold, isAgreed: body.maxCostPerAgent !== undefined },
  });
  const totalMicro = parts.reduce((sum, { isCallable, priceMicro }) => (isCallable ? sum + priceMicro : sum), 0n);
  const payerId = totalMicro === 0n ? null : await payerOf(ctx, caller, totalMicro);
  await paceInputs(ctx, caller.accountId, [body.input, body.context], { copies: parts.length, deadline });
  const requestIds = parts.map(() => newId('req')).sort();
  const plan = planBulk(newBulk(caller, body, now), parts, {
    ...{ body, payerId, deadline, requestIds, budgetId: budgetOf(caller)?.budgetId ?? null },
    ...{ worker: ctx.processId(), callerKind: callerKindOf(caller) },
  });
  const calls = parts.filter(({ isCallable, priceMicro }) => isCallable && priceMicro === 0n).length;
  const forget = ctx.runner.expect(requestIds);
  return countingFree(ctx, caller, { client, calls }, () =>
    startBulk(ctx, caller, { plan, parts, agreed, body, deadline, once }),
  ).finally(forget);
}

interface BulkStart {
  readonly plan: BulkPlan;
  readonly parts: readonly BulkPart[];
  readonly agreed: readonly AgreedTerms[];
  readonly body: BulkRequest;
  readonly deadline: Date;
  readonly once: Once;
}

async function startBulk(
  ctx: InvokeContext,
  caller: KnownCaller,
  { plan, parts, agreed, body, deadline, once }: BulkStart,
): Promise<BulkResult> {
  const agents = parts.map(({ agent }) => agent);
  const begins = plan.requests.filter(({ status }) => status === 'processing');
  const { granted, giveBack } = ctx.backlog.reserve(begins);
  try {
    const waiting = new Set(begins.filter((_, index) => !granted[index]).map(({ id }) => id));
    const requests = putInLine(plan.requests, waiting);
    const leaveLine = await requireLine(ctx, caller, {
      ...{ count: waiting.size, agentIds: begins.filter(({ id }) => waiting.has(id)).map(({ agentId }) => agentId) },
      ...{ priority: body.priority, deadline },
    });
    const sales = parts
      .filter(({ isCallable }) => isCallable)
      .map(({ agent }) => ({ agent, isPriceLocked: false, steadyFor: null }));
    const result = await store(ctx, caller, { ...plan, requests, sales, agreed }, once).finally(leaveLine);
    begin(ctx, requests, agents);
    return result;
  } finally {
    giveBack();
  }
}

const newBulk = (caller: KnownCaller, { strategy, webhookUrl }: BulkRequest, now: Date): Bulk => ({
  id: newId('blk'),
  accountId: caller.accountId,
  callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
  strategy,
  status: 'processing',
  winner: null,
  webhookUrl: webhookUrl ?? null,
  createdAt: now,
  completedAt: null,
});

function begin(ctx: InvokeContext, requests: readonly Invocation[], agents: readonly CallableAgent[]): void {
  for (const [index, invocation] of requests.entries()) {
    const agent = agents[index];
    if (agent && invocation.status === 'processing')
      void ctx.runner.track(invocation, (signal) => runOn(ctx, invocation, agent, signal));
  }
  const waiting = requests.find(({ status }) => status === 'pending');
  if (waiting) ctx.backlog.add(tenantOf(waiting));
}

async function partOf(ctx: InvokeContext, caller: KnownCaller, agentId: string, body: BulkRequest): Promise<BulkPart> {
  const agent = await requireAgent(ctx, agentId);
  await ctx.typeChecks.requireInput(agent, body, caller);
  const { totalMicro: priceMicro, usageTerms } = priceOf(agent, body);
  if (body.maxCostPerAgent !== undefined && parseUsdc(body.maxCostPerAgent) < priceMicro)
    throw invalid('maxCostPerAgent', `${belowPrice(priceMicro, usageTerms)} of agent ${agentId}`);
  const isCallable = agent.status === 'online';
  return { agent, priceMicro, usageTerms, isCallable, isHeldBack: await isHeldBack(ctx, agent, body) };
}

/** The treasury that pays, if it covers all: otherwise nothing is stored in vain. */
async function payerOf(ctx: InvokeContext, caller: KnownCaller, totalMicro: bigint): Promise<string> {
  const treasury = await payingTreasury(ctx, caller);
  const availableMicro = treasury ? await availableToPay(ctx, caller) : 0n;
  if (!treasury || availableMicro < totalMicro) throw insufficient(caller, totalMicro, availableMicro);
  return treasury;
}

async function store(
  ctx: InvokeContext,
  caller: KnownCaller,
  { bulk, requests, sales, agreed }: BulkPlan & { readonly sales: readonly Sale[]; agreed: readonly AgreedTerms[] },
  once: Once,
): Promise<BulkResult> {
  const now = bulk.createdAt;
  const ended = requests.filter(({ status }) => hasEnded(status));
  const result = await ctx.db.transaction(async (tx) => {
    for (const { agent } of await findChanged(ctx, tx, sales)) throw new AgentChangedError(agent.id);
    await requireLiving(tx, requests);
    await insertBulk(tx, bulk);
    await insertInvocations(tx, requests);
    await emitEnded(tx, ended, now);
    await run(tx, endedCounted(ctx, ended));
    if (bulk.status !== 'processing') await tellBulkEnded(tx, bulk, now);
    const kept = await once.keep(tx, toBulkResult(bulk, requests));
    // Last, and the ledger behind the budget: storing the inputs takes long, and others need these rows.
    await spendOrThrow(tx, caller, requests);
    await holdOrThrow(tx, caller, requests, now);
    await recordAgreedTerms(tx, agreed, now);
    failpoint('before-bulk-commit');
    return kept;
  }, limits);
  failpoint('after-bulk-commit');
  reportEnded(ctx, ended.map(toEnded));
  return result;
}

const limits = { lockTimeoutMs: LEDGER_LOCK_TIMEOUT_MS };

/** Holds the money of the worst case. Throws when the treasury does not cover it. */
async function holdOrThrow(tx: Tx, caller: KnownCaller, requests: readonly Invocation[], now: Date): Promise<void> {
  const holding = holdsOf(requests);
  const holds = await holdMoney(tx, holding, now);
  if (holds.every(({ isHeld }) => isHeld)) return;
  const requiredMicro = holding.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);
  throw insufficient(caller, requiredMicro, holds[0]?.availableMicro ?? 0n);
}

/** A request that was stored in its final state: its agent is unavailable, or the bulk request cannot succeed. Nothing was paid. */
const toEnded = (invocation: Invocation): EndedInvocation => ({
  ...invocation,
  cancelReason: invocation.status === 'cancelled' ? 'bulk_decided' : null,
  refundWay: 'none',
});

/** Counts the maximum cost against the daily budget of the caller's key. Throws SPENDING_LIMIT_EXCEEDED when too little is left. */
async function spendOrThrow(tx: Tx, caller: KnownCaller, requests: readonly Invocation[]): Promise<void> {
  const budget = budgetOf(caller);
  if (!budget) return;
  const open = requests.filter(({ status }) => !hasEnded(status));
  const spendings = open.map(({ id, priceMicro, createdAt }) => ({
    ...{ id, budget, amountMicro: priceMicro },
    spentAt: createdAt,
  }));
  for (const remainingMicro of (await spend(tx, spendings)).values()) throw dayExceeded(remainingMicro);
}

/** A bulk request of the caller with its requests and, once decided, its outcome. */
export async function readBulk(ctx: Store, caller: KnownCaller, bulkId: string): Promise<BulkRecord> {
  // One snapshot: otherwise an open bulk request could show a winner without a result, or the reverse.
  const { bulk, requests } = await ctx.db.transaction(
    async (tx) => {
      const bulk = await findBulk(tx, bulkId);
      return { bulk, requests: await findBulkRecords(tx, bulkId, bulk?.winner ?? null) };
    },
    { isolation: 'repeatable read' },
  );
  return toBulkRecord(requireOwn(bulk, caller, 'bulk request'), requests);
}

/** One agent's part of a bulk request. */
interface BulkPart {
  readonly agent: CallableAgent;
  readonly priceMicro: bigint;
  readonly usageTerms: UsageTerms | null;
  readonly isCallable: boolean;
  readonly isHeldBack: boolean;
}

interface BulkPlan {
  readonly bulk: Bulk;
  readonly requests: readonly Invocation[];
}

interface BulkTerms {
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
function planBulk(bulk: Bulk, parts: readonly BulkPart[], terms: BulkTerms): BulkPlan {
  const requests = parts.map((part, index) => toInvocation(bulk, part, terms.requestIds[index] as string, terms));
  return unlessLost({ bulk, requests });
}

/** Queues the requests that have no slot. */
const putInLine = (requests: readonly Invocation[], waiting: ReadonlySet<string>): Invocation[] =>
  requests.map((request) =>
    waiting.has(request.id) ? { ...request, status: 'pending' as const, worker: null, startedAt: null } : request,
  );

function toInvocation(bulk: Bulk, part: BulkPart, id: string, terms: BulkTerms): Invocation {
  const { body, worker, payerId, budgetId, deadline } = terms;
  const { agent, priceMicro, usageTerms, isCallable } = part;
  const isFree = priceMicro === 0n;
  return {
    id,
    accountId: bulk.accountId,
    callerAgentId: bulk.callerAgentId,
    callerKind: terms.callerKind,
    gateway: 'rest',
    agentId: agent.id,
    requestedAgentId: null,
    chosen: null,
    bulkId: bulk.id,
    webhookUrl: null,
    inputTimeoutS: null,
    turn: 1,
    turns: null,
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
    usageTerms,
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
    usage: null,
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
