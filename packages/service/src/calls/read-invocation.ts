import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../accounts/caller.ts';
import type { NodeKeys } from '../chain/keys/node-keys.ts';
import { AppError, notFound } from '../lib/app-error.ts';
import { daysBefore, type Retention } from '../lib/retention.ts';
import type { Store } from '../store/database.ts';
import type { Invocation } from './invocation.ts';
import { toRecord } from './invocation-view.ts';
import { findRecord, findRecordsWithin, findStates, type InvocationState } from './record-store.ts';

/** A record of the caller or of an agent of its account. Throws NOT_FOUND for others. */
export function requireOwn<T extends Pick<Invocation, 'accountId' | 'callerAgentId'>>(
  found: T | null,
  caller: KnownCaller,
  what = 'request',
): T {
  const isTheirs =
    found?.accountId === caller.accountId && (caller.kind === 'account' || found.callerAgentId === caller.agentId);
  if (!found || !isTheirs) throw notFound(what);
  return found;
}

/** A request of the caller: of its account for a key, its own for an agent. */
export const readInvocation = async (ctx: Store, caller: KnownCaller, requestId: string): Promise<RequestRecord> =>
  toRecord(requireOwn(await findRecord(ctx.db, requestId), caller));

/** A request by its id, without a check of ownership, for the node's own work. */
export async function readUnowned(ctx: Store, requestId: string): Promise<RequestRecord | null> {
  const found = await findRecord(ctx.db, requestId);
  return found && toRecord(found);
}

/** Bytes of results in one page of records: the rest is for the next page. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** The first of these requests of the caller, in order: all of them without their results, else as many as fill a page. */
export async function readInvocations(
  ctx: Store,
  caller: KnownCaller,
  ids: readonly string[],
  { withResults }: { readonly withResults: boolean },
): Promise<RequestRecord[]> {
  if (ids.length === 0) return [];
  if (withResults)
    return (await findRecordsWithin(ctx.db, ids, PAGE_BYTES)).map((found) => toRecord(requireOwn(found, caller)));
  const states = new Map((await findStates(ctx.db, ids)).map((state) => [state.id, state]));
  return ids.map((id) => toRecord({ ...requireOwn(states.get(id) ?? null, caller), result: null }));
}

/** State of a request, for a reader of its events. Throws GONE when its stream may have been removed. */
export async function readFollowed(
  ctx: Store & { readonly retention: Retention },
  caller: KnownCaller,
  requestId: string,
): Promise<InvocationState> {
  const [found] = await findStates(ctx.db, [requestId]);
  const state = requireOwn(found ?? null, caller);
  const { chunkDays } = ctx.retention;
  if (state.completedAt !== null && state.completedAt < daysBefore(ctx.clock.now(), chunkDays))
    throw new AppError(
      'GONE',
      `Events of a request are kept for ${chunkDays} days after its end; GET /invoke/{requestId} tells how it ended.`,
    );
  return state;
}

/** Mark the tokens, so that logs can leave them out; the forms are those of `keylessReadHeaders` and `answerHeaders`. */
const PREFIX = 'anr_';
const ANSWER_PREFIX = 'ana_';

/** The token that reads one request without an API key. Nothing is stored: it is a MAC over the id, and ends with the node's secret. */
export const resultTokenOf = ({ secrets }: Pick<NodeKeys, 'secrets'>, requestId: string): string =>
  PREFIX + secrets.authenticate('result-token', [requestId]);

/** True if the token reads this request; takes the same time for every token of its length. */
export const isResultToken = ({ secrets }: Pick<NodeKeys, 'secrets'>, requestId: string, token: string): boolean =>
  token.startsWith(PREFIX) && secrets.isAuthentic('result-token', [requestId], token.slice(PREFIX.length));

/** The token that answers and cancels one request without an API key. Like the `resultToken`, it is a MAC; that one does not open more. */
export const answerTokenOf = ({ secrets }: Pick<NodeKeys, 'secrets'>, requestId: string): string =>
  ANSWER_PREFIX + secrets.authenticate('answer-token', [requestId]);

export const isAnswerToken = ({ secrets }: Pick<NodeKeys, 'secrets'>, requestId: string, token: string): boolean =>
  token.startsWith(ANSWER_PREFIX) &&
  secrets.isAuthentic('answer-token', [requestId], token.slice(ANSWER_PREFIX.length));
