import { emit } from '../../../service/src/events/outbox/outbox.ts';
import type { Harness } from '../../../service/test/support/harness.ts';

let nth = 0;

/** An event that stands for itself: an agent of the account was removed. */
export async function happen({ ctx }: Pick<Harness, 'ctx'>, accountId: string): Promise<void> {
  nth += 1;
  const data = { id: `agt_${nth}`, unregistered: true, finalBlock: nth };
  await ctx.db.transaction((tx) =>
    emit(tx, [{ type: 'agent.removed', accountId, subjectId: data.id, data }], ctx.clock.now()),
  );
  ctx.webhookDispatcher.requestRun();
}
