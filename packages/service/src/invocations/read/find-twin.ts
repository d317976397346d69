import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { TWIN_WINDOW_MS } from '../twin-window.ts';
import { findNewestTwin } from './twin-store.ts';

/** The caller's newest request of the last ten minutes for the same agent, task, context and input; null: none, or it was given back. */
export const findTwin = (
  ctx: HasDb & HasClock,
  caller: KnownCaller,
  call: { readonly agentId: string; readonly task: string; readonly context: string | null; readonly input: object },
): Promise<string | null> =>
  findNewestTwin(ctx.db, {
    ...call,
    accountId: caller.accountId,
    callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
    input: JSON.stringify(call.input),
    since: new Date(ctx.clock.now().getTime() - TWIN_WINDOW_MS),
  });
