import type { Tx } from '../db/sql.ts';
import { emit } from '../events/outbox.ts';
import { type Bulk, endBulk, lockBulk } from './bulk-store.ts';
import { type BulkDecision, decideBulk } from './bulk-strategy.ts';
import { type End, type EndContext, type Ended, endAll } from './end-invocations.ts';
import { hasEnded } from './invocation.ts';
import { lockBulkRequests } from './invocation-store.ts';

/**
 * Ends one request of a bulk request and decides, under the bulk's lock, whether that ends the bulk: then the requests still open
 * are cancelled in the same transaction. One that comes to its end after the decision is cancelled, whatever it brought.
 */
export async function endBulkRequest(ctx: EndContext, tx: Tx, bulkId: string, end: End): Promise<Ended> {
  const bulk = await lockBulk(tx, bulkId);
  const now = ctx.clock.now();
  const isDecided = bulk?.status !== 'processing';
  const own: End = isDecided ? { invocation: end.invocation, outcome: { kind: 'cancelled' } } : end;
  const first = await endAll(ctx, tx, [own], now);
  if (isDecided || !bulk) return first;
  const rest = await settleBulk(ctx, tx, bulk, now);
  return new Map([...first, ...rest]);
}

/** Decides a bulk request as it stands; the caller holds its lock. */
export async function settleBulk(ctx: EndContext, tx: Tx, bulk: Bulk, now: Date): Promise<Ended> {
  const parts = await lockBulkRequests(tx, bulk.id);
  const decision = decideBulk(bulk.strategy, parts);
  if (decision.kind === 'open') return new Map();
  const losers = parts.filter(({ status }) => !hasEnded(status));
  const cancelled = await endAll(
    ctx,
    tx,
    losers.map((invocation): End => ({ invocation, outcome: { kind: 'cancelled' } })),
    now,
  );
  await close(tx, bulk, decision, now);
  return cancelled;
}

async function close(tx: Tx, bulk: Bulk, decision: Exclude<BulkDecision, { kind: 'open' }>, now: Date): Promise<void> {
  const winner = decision.kind === 'completed' ? decision.winner : null;
  await endBulk(tx, bulk.id, { status: decision.kind, winner }, now);
  const { accountId, webhookUrl } = bulk;
  await emit(tx, [{ type: 'bulk.completed', accountId, subjectId: bulk.id, data: null, webhookUrl }], now);
}
