import { unspend } from '../../accounts/limits/spend.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import { unlessAborted } from '../../lib/concurrency/unless-aborted.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { ChainContext } from '../../payments/chain-outbox/chain-context.ts';
import { returnWalletOf } from '../../payments/ledger/treasury.ts';
import { arrivedRefunds, bookRefund, type ReturnTo } from '../../payments/payouts/await-refunds.ts';
import { owePayer } from '../../payments/payouts/refund-payer.ts';
import type { Store } from '../../store/database.ts';
import type { Repeating, Schedule } from '../../store/queue/schedule.ts';
import type { Tx } from '../../store/sql.ts';
import { type BilledRequest, lockBilled, markReturned } from '../billed-store.ts';
import { hasEnded } from '../invocation.ts';
import { countMoney } from '../read/count-calls.ts';
import { type HomeRecord, outcomeOf, readHomeAnswer } from './home-answer.ts';
import { askHome, type HomeContext } from './home-client.ts';
import {
  HAS_DUE_HOME_CALLS,
  type OpenHomeCall,
  recordHomeEnd,
  takeOpenHomeCall,
  takeOpenHomeCalls,
} from './home-store.ts';

type SettleContext = HomeContext & Store & Telemetry;

/** Concurrent requests to home nodes, and to one of them, so that a hanging node does not delay the refunds of others. */
const MAX_AT_ONCE = 50;
const MAX_OF_NODE = 5;
const TIMEOUT_MS = 10_000;
/** Time for refunds of uncollected bills: an agent that bills its home node directly has about six minutes to collect. */
const RETURNS_WITHIN_MS = 420_000;
/** Longer than the maximum life of a request and of a payment. */
const UNKNOWN_AFTER_MS = 25 * 3_600_000;

/** Asks home nodes for the end and the refund of requests that have ended here. */
export function startHomeSettlements(ctx: SettleContext, schedule: Schedule): Repeating {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = createSemaphore(MAX_AT_ONCE);
  const look = async () => {
    const limit = running.free();
    if (limit === 0) return;
    // A node is asked again when all that it was asked has ended.
    const wanted = { now: ctx.clock.now(), limit, maxPerNode: MAX_OF_NODE, busyNodes: running.crowdedKeys(1) };
    for (const call of await takeOpenHomeCalls(ctx.db, wanted))
      void running.run(() => unlessAborted(settleOrLog(ctx, call, signal), signal), [call.nodeId]);
  };
  schedule.every('settle-home-calls', 2000, look, { hasWork: { sql: HAS_DUE_HOME_CALLS } });
  return {
    async stop() {
      stopping.abort();
      await schedule.stop();
      await running.idle();
    },
  };
}

/** Asks the home node of one request, now. */
export async function settleHomeCall(ctx: SettleContext, requestId: string): Promise<void> {
  for (const call of await takeOpenHomeCall(ctx.db, requestId, ctx.clock.now())) await settleOrLog(ctx, call);
}

const settleOrLog = (ctx: SettleContext, call: OpenHomeCall, signal?: AbortSignal): Promise<void> =>
  settle(ctx, call, signal).catch((error) => {
    if (!(error instanceof GuardedFetchError || signal?.aborted))
      ctx.log.warn({ err: error, ...call }, 'settlement of a request with its home node failed');
  });

/** Cancels a request that is still open at its home node and has ended without a result here. */
async function settle(ctx: SettleContext, call: OpenHomeCall, signal: AbortSignal | undefined): Promise<void> {
  const end = await endAtHome(ctx, call, { cancels: call.status !== 'completed', signal });
  if (end === 'unknown') await giveUpUnknown(ctx, call);
  else if (end) await recordEnd(ctx, call.requestId, end);
}

type AtHome = HomeRecord | 'unknown' | null;

/**
 * The end of a request at its home node; null: it is open there, or the home gives no answer; `unknown`: the home does not have it.
 * `cancels`: cancel an open one first. Throws GuardedFetchError when the home can't be reached.
 */
export async function endAtHome(
  ctx: HomeContext,
  { home, homeRequestId }: Pick<OpenHomeCall, 'home' | 'homeRequestId'>,
  { cancels, signal }: { readonly cancels: boolean; readonly signal: AbortSignal | undefined },
): Promise<AtHome> {
  const path = `/invoke/${encodeURIComponent(homeRequestId)}`;
  const limits = { timeoutMs: TIMEOUT_MS, ...(signal ? { signal } : {}) };
  const ask = async (): Promise<AtHome> => {
    const response = await askHome(ctx, home, { method: 'GET', path, ...limits });
    if (response.status === 404) return 'unknown';
    const answer = readHomeAnswer(response);
    return answer.kind === 'told' ? answer.record : null;
  };
  let found = await ask();
  if (isOpen(found) && cancels) {
    await askHome(ctx, home, { method: 'POST', path: `${path}/cancel`, ...limits });
    found = await ask();
  }
  return isOpen(found) ? null : found;
}

const isOpen = (found: AtHome): boolean => found !== null && found !== 'unknown' && outcomeOf(found) === null;

/** A home node that was not paid has no such request, and gets none once the payment has expired. */
async function giveUpUnknown(ctx: SettleContext, { requestId, createdAt }: OpenHomeCall): Promise<void> {
  if (ctx.clock.now().getTime() - createdAt.getTime() > UNKNOWN_AFTER_MS)
    await recordHomeEnd(ctx.db, requestId, { promisedMicro: 0n, nextLookAt: null });
}

/** Records the end of a request at its home node. A failed one is polled once more, when all refunds are known. */
export async function recordEnd(ctx: Store, requestId: string, record: HomeRecord): Promise<void> {
  const now = ctx.clock.now();
  const lastLookAt = new Date((record.completedAt ?? now).getTime() + RETURNS_WITHIN_MS);
  const mayGrow = record.status !== 'completed' && lastLookAt > now;
  await recordHomeEnd(ctx.db, requestId, {
    promisedMicro: record.refundMicro,
    nextLookAt: mayGrow ? lastLookAt : null,
  });
}

type Arrived = Awaited<ReturnType<typeof arrivedRefunds>>[number];

/** Passes refunds from other nodes on to the payers of the requests: to a treasury at once, to a wallet on chain. */
export async function collectRefunds(ctx: ChainContext): Promise<void> {
  for (const arrived of await arrivedRefunds(ctx))
    await ctx.db
      .transaction(async (tx) => {
        await collect(ctx, tx, arrived);
        failpoint('before-end-bill-commit');
      })
      .catch((error) => ctx.log.error({ err: error, ...arrived }, 'booking of a received refund failed'));
  failpoint('after-end-bill-commit');
}

async function collect(ctx: ChainContext, tx: Tx, arrived: Arrived): Promise<void> {
  const { requestId, purpose } = arrived;
  const request = await lockBilled(tx, requestId);
  const isOver = request === null || hasEnded(request.status);
  const to = request && toReturn(request);
  // An open request may still be billed.
  if (!to && !isOver) return;
  const record = async (amountMicro: bigint) => {
    await markReturned(tx, requestId, amountMicro);
    if (isOver && request) await countMoney(tx, request, { spentMicro: -amountMicro });
    if (isOver && request?.budgetId)
      await unspend(tx, [{ budgetId: request.budgetId, amountMicro, spentAt: request.createdAt }]);
  };
  const amountMicro = await bookRefund(ctx, tx, arrived, to, record);
  // The end of an open request returns all that it does not cost, this amount included.
  if (amountMicro === 0n || !to || !isOver) return;
  const address = await returnWalletOf(tx, to.payerLedgerId);
  if (address === null) return;
  await owePayer(ctx, tx, {
    ...{ requestId, accountId: to.accountId, address, amountMicro },
    ledgerAccountId: to.payerLedgerId,
    purpose: purpose === 'home_refund' ? 'return' : 'second_return',
  });
}

/** null: nothing was paid for it. */
function toReturn({ accountId, payerLedgerId, billedMicro, returnedMicro }: BilledRequest): ReturnTo | null {
  if (payerLedgerId === null || billedMicro === null) return null;
  return { accountId, payerLedgerId, maxMicro: billedMicro - returnedMicro };
}
