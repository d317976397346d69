import type { Invocation } from '../invocation.ts';
import { tellCancelled } from '../protocols/http-client.ts';
import { type RunContext, targetOf } from '../run/run-invocation.ts';
import { findOpenHandle } from './turn-store.ts';

/** Cancels the work that an agent keeps for a question, after its request ended without an answer. Sent once; failures are ignored. */
export async function tellNoAnswer(ctx: RunContext, invocation: Invocation): Promise<void> {
  try {
    const handle = await findOpenHandle(ctx.db, invocation.id);
    const agent = handle === null ? null : await ctx.agentFinder.find(invocation.agentId);
    if (handle === null || !agent || agent.home) return;
    const target = targetOf(ctx, invocation, agent);
    if (target?.protocol === 'http') await tellCancelled(ctx, handle, { target, invocation });
  } catch (err) {
    ctx.log.debug({ err, requestId: invocation.id }, 'the agent was not told that its question has no answer');
  }
}
