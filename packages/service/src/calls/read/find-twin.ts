import type { KnownCaller } from '../../accounts/caller.ts';
import type { Store } from '../../store/database.ts';
import { findNewestTwin } from './history-store.ts';

/** The caller's newest request of the last ten minutes for the same agent, task, context and input; null: none, or it was given back. */
export const findTwin = (
  ctx: Store,
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

/** Time within which a client may repeat a call that it did not name. */
export const TWIN_WINDOW_MS = 600_000;
