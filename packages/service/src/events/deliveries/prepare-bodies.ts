import type { NodeIdentity } from '../../chain/chain-info.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Subjects } from '../outbox/subjects.ts';
import { deliveryBody } from './delivery-body.ts';
import { type DueDelivery, readBodies, storeBodies } from './endpoint-queue-store.ts';

export interface BodyContext
  extends Store,
    Pick<Telemetry, 'log'>,
    Pick<Subjects, 'readSubject'>,
    Pick<NodeIdentity, 'baseUrl'> {}

/** Bytes of the bodies of a batch that stay in memory until they are sent; a single larger body stays too. */
const MAX_BATCH_BYTES = 512 * 1024;
/** Batches that a process prepares at once: only these are in memory whole. */
const PREPARED_AT_ONCE = 8;

/** A delivery with its body; undefined where the event's object can't be read. */
export interface PreparedDelivery {
  readonly delivery: DueDelivery;
  readonly body: string | undefined;
}

export interface Prepared {
  /** The first of the deliveries, as many as `MAX_BATCH_BYTES` allows, at least one if there is any. */
  readonly ready: readonly PreparedDelivery[];
  /** The others: to be prepared again. */
  readonly left: readonly DueDelivery[];
}

/**
 * Reads or builds bodies of deliveries, for all endpoint queues of a process. Bodies are stored before the first attempt: every attempt,
 * also by another process, sends the same bytes.
 */
export interface BodyPreparer {
  prepare(due: readonly DueDelivery[]): Promise<Prepared>;
}

export function createBodyPreparer(ctx: BodyContext): BodyPreparer {
  const prepared = createSemaphore(PREPARED_AT_ONCE);
  return {
    async prepare(due) {
      return due.length === 0 ? { ready: [], left: [] } : prepared.run(() => prepareBodies(ctx, due));
    },
  };
}

async function prepareBodies(ctx: BodyContext, due: readonly DueDelivery[]): Promise<Prepared> {
  const stored = due.filter(({ hasBody }) => hasBody).map(({ id }) => id);
  const read = stored.length > 0 ? await readBodies(ctx.db, stored, MAX_BATCH_BYTES) : new Map<string, string>();
  const made = await buildBodies(
    ctx,
    due.filter(({ hasBody }) => !hasBody),
  );
  if (made.size > 0) await storeBodies(ctx.db, made);
  const ready: PreparedDelivery[] = [];
  let bytes = 0;
  for (const delivery of due) {
    const body = read.get(delivery.id) ?? made.get(delivery.id);
    bytes += Buffer.byteLength(body ?? '');
    // A stored body that was not read comes behind too many bytes.
    const isBehind = bytes > MAX_BATCH_BYTES || (delivery.hasBody && body === undefined);
    if (isBehind && ready.length > 0) break;
    ready.push({ delivery, body });
  }
  const left = due.slice(ready.length).map((delivery) => ({
    ...delivery,
    hasBody: delivery.hasBody || made.has(delivery.id),
  }));
  return { ready, left };
}

async function buildBodies(ctx: BodyContext, due: readonly DueDelivery[]): Promise<ReadonlyMap<string, string>> {
  const made = new Map<string, string>();
  const build = async ({ id, event }: DueDelivery) => {
    const data = event.data ?? (await ctx.readSubject(event));
    made.set(id, deliveryBody(event, data, ctx.baseUrl));
  };
  const report = (delivery: DueDelivery, err: unknown) =>
    ctx.log.error({ err, eventId: delivery.eventId }, 'cannot load event subject');
  await Promise.all(due.map((delivery) => build(delivery).catch((err: unknown) => report(delivery, err))));
  return made;
}
