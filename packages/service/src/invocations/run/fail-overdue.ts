import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { HasFinisher } from '../finish/end-invocations.ts';
import type { Failure, Invocation } from '../invocation.ts';
import { findOverdue } from './queue-store.ts';

const BATCH = 100;

/** The end of a request that waited for a place until its deadline. */
export const outOfTime: Failure = {
  kind: 'failed',
  reason: 'deadline_exceeded',
  message: 'The deadline passed before there was room to call the agent.',
  isUnasked: true,
};

/**
 * Fails all queued requests whose deadline has passed, and refunds them. Each is tried once: those of a locked treasury keep no others from
 * ending.
 */
export async function failOverdue(ctx: HasDb & HasClock & HasFinisher & HasLog): Promise<void> {
  const triedIds: string[] = [];
  for (let isFull = true; isFull; ) {
    const overdue = await findOverdue(ctx.db, ctx.clock.now(), { triedIds, limit: BATCH });
    await Promise.all(overdue.map((invocation) => endOverdue(ctx, invocation)));
    triedIds.push(...overdue.map(({ id }) => id));
    isFull = overdue.length === BATCH;
  }
}

const endOverdue = (ctx: HasFinisher & HasLog, invocation: Invocation): Promise<unknown> =>
  ctx.finisher
    .finish({ invocation, outcome: outOfTime })
    .catch((err) => ctx.log.warn({ err, requestId: invocation.id }, 'overdue request could not be ended; retrying'));
