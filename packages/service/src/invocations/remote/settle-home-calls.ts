import type { HasDb } from '../../db/database.ts';
import type { Records } from '../../db/records.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log/log.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import { type HomeRecord, outcomeOf, readHomeAnswer } from './home-answer.ts';
import { askHome, type HomeContext } from './home-client.ts';
import { noteHomeEnd, type OpenHomeCall, takeOpenHomeCalls } from './home-store.ts';

type SettleContext = HomeContext & Records & HasLog;

const MAX_AT_ONCE = 50;
const TIMEOUT_MS = 10_000;
/** Time for refunds of uncollected bills: an agent that bills its home node directly has about six minutes to collect. */
const RETURNS_WITHIN_MS = 420_000;
/** Longer than the maximum life of a request and of a payment. */
const UNKNOWN_AFTER_MS = 25 * 3_600_000;

/**
 * Asks home nodes for the end and the refund of requests that have ended here; cancels those that are still open there and were cancelled
 * here. `requestId`: only that one, now.
 */
export async function settleHomeCalls(ctx: SettleContext, requestId: string | null = null): Promise<void> {
  const calls = await takeOpenHomeCalls(ctx.db, { now: ctx.clock.now(), limit: MAX_AT_ONCE, requestId });
  const look = (call: OpenHomeCall) =>
    settle(ctx, call).catch((error) => {
      if (!(error instanceof GuardedFetchError))
        ctx.log.warn({ err: error, ...call }, 'settlement of a request with its home node failed');
    });
  await Promise.all(calls.map(look));
}

async function settle(ctx: SettleContext, call: OpenHomeCall): Promise<void> {
  const { home, homeRequestId, requestId, status } = call;
  const path = `/invoke/${encodeURIComponent(homeRequestId)}`;
  const ask = async () => {
    const response = await askHome(ctx, home, { method: 'GET', path, timeoutMs: TIMEOUT_MS });
    if (response.status === 404) await giveUpUnknown(ctx, call);
    const answer = readHomeAnswer(response);
    return answer.kind === 'told' ? answer.record : null;
  };
  let record = await ask();
  if (record && outcomeOf(record) === null && status !== 'completed') {
    await askHome(ctx, home, { method: 'POST', path: `${path}/cancel`, timeoutMs: TIMEOUT_MS });
    record = await ask();
  }
  if (record && outcomeOf(record)) await noteEnd(ctx, requestId, record);
}

/** A home node that was not paid has no such request, and gets none once the payment has expired. */
async function giveUpUnknown(ctx: SettleContext, { requestId, createdAt }: OpenHomeCall): Promise<void> {
  if (ctx.clock.now().getTime() - createdAt.getTime() > UNKNOWN_AFTER_MS)
    await noteHomeEnd(ctx.db, requestId, { promisedMicro: 0n, nextLookAt: null });
}

/** Records the end of a request at its home node. A failed one is polled once more, when all refunds are known. */
export async function noteEnd(ctx: HasDb & HasClock, requestId: string, record: HomeRecord): Promise<void> {
  const now = ctx.clock.now();
  const lastLookAt = new Date((record.completedAt ?? now).getTime() + RETURNS_WITHIN_MS);
  const mayGrow = record.status !== 'completed' && lastLookAt > now;
  await noteHomeEnd(ctx.db, requestId, {
    promisedMicro: record.refundMicro,
    nextLookAt: mayGrow ? lastLookAt : null,
  });
}
