import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasFinisher } from '../finish/end-invocations.ts';
import type { Failure } from '../invocation.ts';
import { findOverdue } from './queue-store.ts';

const BATCH = 100;

/** The end of a request that waited for a place until its deadline. */
export const outOfTime: Failure = {
  kind: 'failed',
  reason: 'deadline_exceeded',
  message: 'The deadline passed before there was room to call the agent.',
  isUnasked: true,
};

/** Fails queued requests whose deadline has passed, and refunds them. */
export async function failOverdue(ctx: HasDb & HasClock & HasFinisher): Promise<void> {
  const overdue = await findOverdue(ctx.db, ctx.clock.now(), BATCH);
  await Promise.all(overdue.map((invocation) => ctx.finisher.finish({ invocation, outcome: outOfTime })));
}
