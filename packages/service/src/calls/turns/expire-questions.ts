import type { Invocation } from '../invocation.ts';
import { failed } from '../protocols/agent-answer.ts';
import type { RunContext } from '../run/run-invocation.ts';
import { tellNoAnswer } from './end-waiting.ts';
import { findUnanswered } from './turn-store.ts';

const BATCH = 100;

const unanswered = failed('input_timeout', 'The question of the agent expired without an answer.');

/**
 * Fails all requests with a question that has expired, and refunds them. Tries each once, so that a locked treasury does not delay the
 * others.
 */
export async function failUnanswered(ctx: RunContext): Promise<void> {
  const triedIds: string[] = [];
  for (let isFull = true; isFull; ) {
    const found = await findUnanswered(ctx.db, ctx.clock.now(), { triedIds, limit: BATCH });
    await Promise.all(found.map((invocation) => endUnanswered(ctx, invocation)));
    triedIds.push(...found.map(({ id }) => id));
    isFull = found.length === BATCH;
  }
}

async function endUnanswered(ctx: RunContext, invocation: Invocation): Promise<void> {
  try {
    const { errorCode } = await ctx.finisher.finish({ invocation, outcome: unanswered });
    if (errorCode === unanswered.reason) void tellNoAnswer(ctx, invocation);
  } catch (err) {
    ctx.log.warn({ err, requestId: invocation.id }, 'unanswered request could not be ended; retrying');
  }
}
