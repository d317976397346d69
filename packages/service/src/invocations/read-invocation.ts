import type { RequestRecord } from '@agent-network/contracts/invocations';
import type { KnownCaller } from '../access/caller.ts';
import type { HasDb } from '../db/database.ts';
import { notFound } from '../lib/app-error.ts';
import { findInvocation } from './invocation-store.ts';
import { toRecord } from './invocation-view.ts';

/** A request of the caller's: of its account for a key, its own for an agent. Other people's are NOT_FOUND. */
export async function readInvocation(ctx: HasDb, caller: KnownCaller, requestId: string): Promise<RequestRecord> {
  const invocation = await findInvocation(ctx.db, requestId);
  const isTheirs =
    invocation?.accountId === caller.accountId &&
    (caller.kind === 'account' || invocation.callerAgentId === caller.agentId);
  if (!invocation || !isTheirs) throw notFound('request');
  return toRecord(invocation);
}
