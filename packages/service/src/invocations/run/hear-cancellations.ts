import type { HasDb } from '../../db/database.ts';
import type { Listening } from '../../db/listener.ts';
import type { HasLog } from '../../lib/log/log.ts';
import { CANCELLED_CHANNEL } from '../finish/finish-invocations.ts';
import { findCancelled } from '../invocation-store.ts';
import type { HasRunner } from '../places/runner.ts';
import type { HasChangeHub } from '../stream/change-hub.ts';

type HearContext = HasDb & HasLog & HasRunner & HasChangeHub;

/**
 * Aborts work in this process that another one cancelled, and wakes its readers. After a lost connection checks all running requests,
 * because a notification may have been missed.
 */
export function hearCancellations(ctx: HearContext): Promise<Listening> {
  const hear = (requestId: string) => {
    ctx.runner.abort(requestId);
    ctx.changeHub.changed(requestId);
  };
  const lookUp = async () => (await findCancelled(ctx.db, ctx.runner.trackedIds())).forEach(hear);
  return ctx.db.listen(CANCELLED_CHANNEL, (requestId) => {
    if (requestId !== null) hear(requestId);
    else void lookUp().catch((error) => ctx.log.warn({ err: error }, 'lookup of cancelled requests failed'));
  });
}
