import type { HasDb } from '../db/database.ts';
import type { Listening } from '../db/listener.ts';
import type { HasLog } from '../lib/log.ts';
import { CANCELLED_CHANNEL } from './finish-invocations.ts';
import { findCancelled } from './invocation-store.ts';
import type { HasRunner } from './runner.ts';

type HearContext = HasDb & HasLog & HasRunner;

/**
 * Breaks off what runs here and was cancelled elsewhere. After a lost connection all that runs here is looked at, as the word
 * may have been missed.
 */
export function hearCancellations(ctx: HearContext): Promise<Listening> {
  return ctx.db.listen(CANCELLED_CHANNEL, (requestId) => {
    if (requestId !== null) ctx.runner.abort(requestId);
    else
      void abortCancelled(ctx).catch((error) => ctx.log.warn({ err: error }, 'cancelled requests were not looked up'));
  });
}

async function abortCancelled(ctx: HearContext): Promise<void> {
  for (const id of await findCancelled(ctx.db, ctx.runner.trackedIds())) ctx.runner.abort(id);
}
