import type { Invocation } from '../invocation.ts';
import { cancelWork, type RunContext } from '../run/run-invocation.ts';
import { findOpenHandle } from './turn-store.ts';

/** Cancels the work that an agent keeps for a question, after its request ended without an answer. Sent once; failures are ignored. */
export async function tellNoAnswer(ctx: RunContext, invocation: Invocation): Promise<void> {
  try {
    const handle = await findOpenHandle(ctx.db, invocation.id);
    const agent = handle === null ? null : await ctx.agentFinder.find(invocation.agentId);
    if (handle !== null && agent) await cancelWork(ctx, invocation, agent, handle);
  } catch (err) {
    ctx.log.debug({ err, requestId: invocation.id }, 'the agent was not told that its question has no answer');
  }
}
