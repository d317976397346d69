import type { KnownCaller } from '../../access/caller/caller.ts';
import { AppError } from '../../lib/app-error.ts';
import { type Call, type HasPlaceLimits, laneOf } from '../places/places.ts';
import type { HasRunner } from '../places/runner.ts';
import type { LineEntry } from '../run/line.ts';
import type { HasBacklog } from '../run/run-queued.ts';

export const callOf = (caller: KnownCaller, agentId: string): Call => ({
  accountId: caller.accountId,
  callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
  agentId,
});

const laneOfCaller = (caller: KnownCaller) => laneOf(callOf(caller, ''));

/**
 * Throws RATE_LIMITED, before any charge, unless `count` more requests of the caller may be queued, and may run before their deadline as far
 * as the line tells. Call the result once they are stored or abandoned.
 */
export async function requireLine(
  ctx: HasBacklog & HasPlaceLimits,
  caller: KnownCaller,
  entry: Omit<LineEntry, 'lane'>,
): Promise<() => void> {
  if (entry.count === 0) return () => undefined;
  const joined = await ctx.backlog.join({ ...entry, lane: laneOfCaller(caller) });
  if (joined.kind === 'in') return joined.leave;
  if (joined.kind === 'full') throw tooManyWaiting(ctx.placeLimits.mostWaiting);
  throw tooSlow(ctx.placeLimits.mostWaiting, joined.expectedMs);
}

/** The same for a call that pays on chain: it takes its place after payment, so this process's waiting ones are counted first. */
export function requireRoomToPay(ctx: HasRunner & HasPlaceLimits, caller: KnownCaller): void {
  const { mostWaiting } = ctx.placeLimits;
  if (ctx.runner.waitingOf(laneOfCaller(caller)) >= mostWaiting) throw tooManyWaiting(mostWaiting);
}

const RETRY_AFTER_S = 10;

const tooSlow = (limit: number, expectedMs: number) =>
  new AppError(
    'RATE_LIMITED',
    `The request would wait for a place for about ${Math.ceil(expectedMs / 1000)} s, and its deadline is too soon; nothing was charged. Try again later, or with a later deadline.`,
    { details: { limit, type: 'waiting', retryAfterS: RETRY_AFTER_S } },
  );

const tooManyWaiting = (limit: number) =>
  new AppError('RATE_LIMITED', `${limit} requests wait for a place already; nothing was charged. Try again later.`, {
    details: { limit, type: 'waiting', retryAfterS: RETRY_AFTER_S },
  });
