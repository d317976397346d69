import type { KnownCaller } from '../../accounts/caller.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { AppError } from '../../lib/app-error.ts';

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
