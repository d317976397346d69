import type { HasBaseUrl } from '../../chain/chain-info.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { HasSubjects } from '../outbox/subjects.ts';
import { deliveryBody } from './delivery-body.ts';
import { type DueDelivery, readBodies, storeBodies } from './endpoint-queue-store.ts';

export interface BodyContext extends HasDb, HasLog, HasSubjects, HasBaseUrl {}

/**
 * The bodies of these deliveries; none where the event's object can't be read. Bodies are stored before the first attempt: every attempt,
 * also by another process, sends the same bytes.
 */
export async function prepareBodies(
  ctx: BodyContext,
  due: readonly DueDelivery[],
): Promise<ReadonlyMap<string, string>> {
  const stored = due.filter(({ hasBody }) => hasBody).map(({ id }) => id);
  const bodies = stored.length > 0 ? await readBodies(ctx.db, stored) : new Map<string, string>();
  const made = new Map<string, string>();
  const build = async ({ id, event }: DueDelivery) => {
    const data = event.data ?? (await ctx.readSubject(event));
    made.set(id, deliveryBody(event, data, ctx.baseUrl));
  };
  const report = (delivery: DueDelivery, err: unknown) =>
    ctx.log.error({ err, eventId: delivery.eventId }, 'cannot load event subject');
  const missing = due.filter(({ hasBody }) => !hasBody);
  await Promise.all(missing.map((delivery) => build(delivery).catch((err: unknown) => report(delivery, err))));
  if (made.size > 0) await storeBodies(ctx.db, made);
  return new Map([...bodies, ...made]);
}
