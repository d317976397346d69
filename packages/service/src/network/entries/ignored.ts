import type { Tx } from '../../db/sql.ts';
import { type Entry, isTold, nextLook, nextTry, type Reason, stateAfter } from '../nodes/entry.ts';
import { writeEntry } from '../nodes/entry-store.ts';
import type { NetworkContext } from '../nodes/network-context.ts';

/** An entry before its check, and the result. */
export interface Ignored {
  readonly entry: Entry;
  readonly outcome: { readonly state: Entry['state']; readonly reason: Reason; readonly tries: number };
}

/** Records a failed check in the caller's transaction, which has locked the entry. */
export async function ignore(
  ctx: Pick<NetworkContext, 'registry' | 'clock'>,
  tx: Tx,
  entry: Entry,
  reason: Reason,
): Promise<Ignored> {
  const outcome = afterIgnored(entry, reason, ctx.clock.now());
  await writeEntry(tx, ctx.registry.chainId, entry, outcome);
  return { entry, outcome };
}

function afterIgnored(entry: Entry, reason: Reason, now: Date) {
  const tries = entry.tries + 1;
  const state = stateAfter(entry, reason, tries);
  const again = nextTry(reason, tries, Math.random(), now);
  return {
    state,
    reason,
    tries,
    nextTryAt: again ?? (state === 'listed' ? nextLook(entry.kind, Math.random(), now) : null),
  };
}

/** Logs and counts the reason for ignoring an entry, once for each reason. */
export function tellIgnored(
  ctx: Pick<NetworkContext, 'log' | 'metrics'>,
  { entry: before, outcome: { state, reason, tries } }: Ignored,
): void {
  const isTime = isTold(reason, tries);
  const wasTold = before.reason === reason && before.state === state && isTold(reason, before.tries);
  if (!isTime || wasTold || state !== 'ignored') return;
  ctx.metrics.networkIgnored.inc({ reason });
  const { tokenId, kind, baseUrl, agentId } = before;
  ctx.log.warn({ tokenId, kind, baseUrl, agentId, reason }, 'registry entry ignored');
}
