import type { HasBaseUrl } from '../../chain/chain-info.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { HasSubjects } from '../outbox/subjects.ts';
import { completeBody, deliveryBody, lacksFields, requestBody } from './delivery-body.ts';
import { type DueDelivery, readBodies, storeBodies } from './endpoint-queue-store.ts';

export interface BodyContext extends HasDb, HasLog, HasSubjects, HasBaseUrl {}

/**
 * The bodies of these deliveries; none where the event's object can't be read. Bodies are stored before the first attempt: every attempt,
 * also by another process, sends the same bytes. Large fields of requests are stored with those alone, not once more for each endpoint.
 */
export async function prepareBodies(
  ctx: BodyContext,
  due: readonly DueDelivery[],
): Promise<ReadonlyMap<string, string>> {
  const ids = due.filter(({ hasBody }) => hasBody).map(({ id }) => id);
  const stored = ids.length > 0 ? await readBodies(ctx.db, ids) : new Map<string, string>();
  const bodies = new Map<string, string>();
  const toStore = new Map<string, string>();
  const prepare = async ({ id, event, hasBody }: DueDelivery) => {
    const before = stored.get(id);
    if (before !== undefined)
      bodies.set(id, lacksFields(before) ? completeBody(before, await objectOf(ctx, event)) : before);
    if (hasBody) return;
    const made = await makeBody(ctx, event);
    bodies.set(id, made.body);
    toStore.set(id, made.stored);
  };
  const report = (delivery: DueDelivery, err: unknown) =>
    ctx.log.error({ err, eventId: delivery.eventId }, 'cannot load event subject');
  await Promise.all(due.map((delivery) => prepare(delivery).catch((err: unknown) => report(delivery, err))));
  if (toStore.size > 0) await storeBodies(ctx.db, toStore);
  return bodies;
}

/** Null: the event was removed at the end of its retention period. */
const objectOf = (ctx: BodyContext, event: DueDelivery['event']): Promise<unknown> =>
  event.type === null ? Promise.resolve(null) : ctx.readSubject(event);

async function makeBody(ctx: BodyContext, event: DueDelivery['event']): Promise<{ body: string; stored: string }> {
  if (event.data === null) return requestBody(event, await ctx.readSubject(event), ctx.baseUrl);
  const body = deliveryBody(event, event.data, ctx.baseUrl);
  return { body, stored: body };
}
