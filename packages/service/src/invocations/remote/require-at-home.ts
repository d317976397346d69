import type { KnownCaller } from '../../access/caller/caller.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { AppError } from '../../lib/app-error.ts';

/** Whether another node passes a call on: it says so, or it is the caller. */
export const isPassedOn = (caller: KnownCaller, via: string | null): boolean =>
  via !== null || (caller.kind === 'account' && caller.node !== null);

/**
 * Throws NOT_FOUND when a call that another node passes on is for an agent of a third: what is passed on is passed on once, so that
 * no call goes round in a circle.
 */
export function requireAtHome({ id, home }: CallableAgent, caller: KnownCaller, via: string | null): void {
  if (home && isPassedOn(caller, via))
    throw new AppError('NOT_FOUND', `The agent ${id} is not at home at this node: call it at ${home.baseUrl}.`);
}
