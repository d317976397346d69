import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { BulkRecord } from '@agent-network/contracts/invocations/bulk';
import { formatUsdc } from '@agent-network/contracts/money';
import { emit } from '../../events/outbox/outbox.ts';
import type { LockMode } from '../../store/lock-free.ts';
import type { Tx } from '../../store/sql.ts';
import { hashOfJson } from '../content-hashes.ts';
import { type End, type EndContext, type Ended, endAll } from '../finish/end-invocations.ts';
import { hasEnded, type Invocation } from '../invocation.ts';
import { findStates, type InvocationState } from '../record-store.ts';
import { type Bulk, endBulk, lockBulk, lockBulkParts } from './bulk-store.ts';
import { type BulkDecision, type BulkPart, decideBulk } from './bulk-strategy.ts';

/**
 * Ends one request of a bulk request and decides, under the bulk's lock, whether that ends the bulk: then its open requests are cancelled.
 * A request that ends after the decision is cancelled, regardless of its result. All ends share one transaction: money is locked in one
 * order, so bulk requests can't deadlock.
 */
export async function endBulkRequest(
  ctx: EndContext,
  tx: Tx,
  bulkId: string,
  { end, locks }: { readonly end: End; readonly locks: LockMode },
): Promise<Ended> {
  const now = ctx.clock.now();
  const how = { now, locks };
  const bulk = await lockBulk(tx, bulkId);
  if (bulk?.status !== 'processing') return endAll(ctx, tx, [cancelled(end.invocation)], how);
  const parts = await lockBulkParts(tx, bulkId);
  const isOurs = parts.some(
    (part) => isOpen(part) && part.id === end.invocation.id && part.attempt === end.invocation.attempt,
  );
  if (!isOurs) return { invocations: new Map(), isToTell: false };
  const others = parts.filter(({ id }) => id !== end.invocation.id);
  const decision = decideBulk(bulk.strategy, [...others, partAfter(end, now)]);
  if (decision.kind === 'open') return endAll(ctx, tx, [end], how);
  const open = await readOpen(tx, others.filter(isOpen), end.invocation);
  const ended = await endAll(ctx, tx, [end, ...open.map(cancelled)], how);
  await endBulk(tx, bulkId, { status: decision.kind, winner: winnerOf(decision) }, now);
  const isBulkToTell = await tellBulkEnded(tx, bulk, now);
  return { ...ended, isToTell: ended.isToTell || isBulkToTell };
}

const isOpen = ({ status }: BulkPart) => !hasEnded(status);

/** These parts of a bulk request in their order. All parts were sent one input and context, and an open one has no result. */
async function readOpen(
  tx: Tx,
  parts: readonly BulkPart[],
  { input, context }: Pick<Invocation, 'input' | 'context'>,
): Promise<Invocation[]> {
  const ids = parts.map(({ id }) => id);
  const states = ids.length > 0 ? await findStates(tx, ids) : [];
  const byId = new Map(states.map((state) => [state.id, { ...state, input, context, result: null }]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const cancelled = (invocation: Invocation): End => ({
  invocation,
  outcome: { kind: 'cancelled', reason: 'bulk_decided' },
});

const winnerOf = (decision: BulkDecision) => (decision.kind === 'completed' ? decision.winner : null);

const partAfter = ({ invocation: { id }, outcome }: End, now: Date): BulkPart => ({
  id,
  status: outcome.kind,
  resultHash: outcome.kind === 'completed' ? hashOfJson(outcome.result).toString('hex') : null,
  completedAt: now,
});

/** Puts the event for the end of a bulk request into the outbox, in the caller's transaction. */
export const tellBulkEnded = (tx: Tx, { id, accountId, webhookUrl }: Bulk, now: Date): Promise<boolean> =>
  emit(tx, [{ type: 'bulk.completed', accountId, subjectId: id, data: null, webhookUrl }], now);

export const toBulkResult = (bulk: Bulk, requests: readonly InvocationState[]): DataOf<Api['invokeBulk']> => ({
  bulkId: bulk.id,
  requests: requests.map(({ agentId, id, status }) => ({ agentId, requestId: id, status })),
  strategy: bulk.strategy,
  estimatedCost: formatUsdc(
    requests.reduce((sum, { payerLedgerId, priceMicro }) => (payerLedgerId === null ? sum : sum + priceMicro), 0n),
  ),
});

export function toBulkRecord(
  bulk: Bulk,
  requests: readonly (InvocationState & { readonly result: unknown })[],
): BulkRecord {
  const isOver = bulk.status !== 'processing';
  const sum = (pick: (invocation: InvocationState) => bigint) =>
    requests.reduce((total, each) => total + pick(each), 0n);
  return {
    ...toBulkResult(bulk, requests),
    status: bulk.status,
    result: requests.find(({ id }) => id === bulk.winner)?.result ?? null,
    winner: bulk.winner,
    cost: isOver ? formatUsdc(sum((each) => each.costMicro ?? 0n)) : null,
    createdAt: bulk.createdAt.toISOString(),
    completedAt: bulk.completedAt?.toISOString() ?? null,
  };
}
