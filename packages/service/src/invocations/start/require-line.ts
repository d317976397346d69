import type { KnownCaller } from '../../access/caller/caller.ts';
import { AppError } from '../../lib/app-error.ts';
import { type Call, type HasPlaceLimits, laneOf } from '../places/places.ts';
import type { HasRunner } from '../places/runner.ts';
import type { HasBacklog } from '../run/run-queued.ts';

export const callOf = (caller: KnownCaller, agentId: string): Call => ({
  accountId: caller.accountId,
  callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
  agentId,
});

const laneOfCaller = (caller: KnownCaller) => laneOf(callOf(caller, ''));

/**
 * Throws RATE_LIMITED, before any charge, unless `count` more requests of the caller may be queued. Call the result once they are stored or
 * abandoned.
 */
export async function requireLine(
  ctx: HasBacklog & HasPlaceLimits,
  caller: KnownCaller,
  count: number,
): Promise<() => void> {
  if (count === 0) return () => undefined;
  const leave = await ctx.backlog.join(laneOfCaller(caller), count);
  if (!leave) throw tooManyWaiting(ctx.placeLimits.mostWaiting);
  return leave;
}

/** The same for a call that pays on chain: it takes its place after payment, so this process's waiting ones are counted first. */
export function requireRoomToPay(ctx: HasRunner & HasPlaceLimits, caller: KnownCaller): void {
  const { mostWaiting } = ctx.placeLimits;
  if (ctx.runner.waitingOf(laneOfCaller(caller)) >= mostWaiting) throw tooManyWaiting(mostWaiting);
}

const RETRY_AFTER_S = 10;

const tooManyWaiting = (limit: number) =>
  new AppError('RATE_LIMITED', `${limit} requests wait for a place already; nothing was charged. Try again later.`, {
    details: { limit, type: 'waiting', retryAfterS: RETRY_AFTER_S },
  });
