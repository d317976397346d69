import type { HasProcessId } from '../../queue/heartbeat.ts';
import type { Invocation } from '../invocation.ts';
import { giveBackAll, takeOrphans } from '../invocation-store.ts';
import { runInvocation } from '../run/run-invocation.ts';
import { type PayContext, resumePaid } from './pay-and-run.ts';

type RecoverContext = PayContext & HasProcessId;

const BATCH = 100;

/**
 * Takes over invocations whose process died or gave them back, and continues them; agents recognize them by their key. A process that stops
 * takes none: it has just given its own back.
 */
export async function recoverInvocations(ctx: RecoverContext): Promise<number> {
  if (ctx.runner.signal.aborted) return 0;
  const tracked = ctx.runner.trackedIds();
  const orphans = await takeOrphans(ctx.db, { worker: ctx.processId(), tracked, limit: BATCH });
  // They had begun, so they continue with or without room; unpaid ones take a place once paid.
  for (const invocation of orphans)
    void ctx.runner.track(invocation, (signal) => goOn(ctx, invocation, signal), {
      entersLater: invocation.status === 'pending',
    });
  if (orphans.length > 0) ctx.log.info({ invocations: orphans.length }, 'took over orphaned invocations');
  return orphans.length;
}

async function goOn(ctx: RecoverContext, invocation: Invocation, signal: AbortSignal): Promise<Invocation> {
  try {
    // Nobody knows whether the agent was called: an agent that never answers is not let off by the death of a process.
    return await (invocation.status === 'pending'
      ? resumePaid(ctx, invocation, signal)
      : runInvocation(ctx, invocation, signal, invocation.startedAt));
  } catch (error) {
    ctx.log.error({ err: error, requestId: invocation.id }, 'invocation recovery failed');
    throw error;
  }
}

/** Stops running: waits for the running work up to a limit, then gives the rest back for other processes. */
export async function handBackInvocations(ctx: RecoverContext, graceMs: number): Promise<void> {
  await ctx.runner.drain(graceMs);
  const count = await giveBackAll(ctx.db, ctx.processId());
  if (count > 0) ctx.log.info({ invocations: count }, 'gave back running invocations');
}
