import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import type { Invocation } from '../invocation.ts';
import { giveBackAll, takeOrphans } from '../invocation-store.ts';
import { type PayContext, resumePaid } from '../start/pay-and-run.ts';
import { runInvocation } from './run-invocation.ts';

type RecoverContext = PayContext & NodeProcess;

const BATCH = 100;

/** Age after which a stored request of this process that it does not know is lost: the answer of the insert did not arrive. */
const LOST_AFTER_MS = 10_000;

/**
 * Takes over and continues all invocations that a dead process left or a stopping one gave back. Agents recognize them by their key. A
 * stopping process takes none, as it has just given back its own.
 */
export async function recoverInvocations(ctx: RecoverContext): Promise<number> {
  const takenIds: string[] = [];
  for (let isFull = true; isFull && !ctx.runner.signal.aborted; ) {
    const batch = await takeOver(ctx, takenIds);
    takenIds.push(...batch.map(({ id }) => id));
    isFull = batch.length === BATCH;
  }
  if (takenIds.length > 0) ctx.log.info({ invocations: takenIds.length }, 'took over orphaned invocations');
  return takenIds.length;
}

/** Each is taken once in a run, also when it ends at once. */
async function takeOver(ctx: RecoverContext, takenIds: readonly string[]): Promise<Invocation[]> {
  // Both are read before the database is asked: what is accepted meanwhile is younger.
  const lostBefore = new Date(ctx.clock.now().getTime() - LOST_AFTER_MS);
  const known = [...ctx.runner.knownIds(), ...takenIds];
  const orphans = await takeOrphans(ctx.db, { worker: ctx.processId(), known, lostBefore, limit: BATCH });
  // They had begun, so they continue with or without room; unpaid ones take a slot once paid.
  for (const invocation of orphans)
    void ctx.runner.track(invocation, (signal) => goOn(ctx, invocation, signal), {
      entersLater: invocation.status === 'pending',
    });
  return orphans;
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
