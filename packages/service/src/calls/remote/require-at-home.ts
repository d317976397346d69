import type { KnownCaller } from '../../accounts/caller.ts';
import { isOfInteractiveNode } from '../../accounts/listed-node.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { AppError } from '../../lib/app-error.ts';
import type { Store } from '../../store/database.ts';

/** True when another node forwards a call: by the header, or because the caller is a node. */
export const isPassedOn = (caller: KnownCaller, via: string | null): boolean =>
  via !== null || (caller.kind === 'account' && caller.node !== null);

/**
 * Throws NOT_FOUND when a call passed on by another node is for an agent of a third one: calls are passed on once, which prevents loops.
 */
export function requireAtHome({ id, home }: CallableAgent, caller: KnownCaller, via: string | null): void {
  if (home && isPassedOn(caller, via))
    throw new AppError('NOT_FOUND', `Agent ${id} is hosted by another node. Call it at ${home.baseUrl}.`);
}

interface Interactive {
  readonly interactive?: boolean | undefined;
}

/** The body of a call. One that another node passes on is interactive only if that node's record says that it takes questions. */
export async function withoutQuestions<B extends Interactive>(
  { db }: Store,
  caller: KnownCaller,
  { body, via }: { readonly body: B; readonly via: string | null },
): Promise<B> {
  if (!body.interactive || !isPassedOn(caller, via)) return body;
  return (await isOfInteractiveNode(db, caller.accountId)) ? body : { ...body, interactive: false };
}
