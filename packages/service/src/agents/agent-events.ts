import type { NewEvent } from '../events/outbox/new-event.ts';
import { type Agent, isVerified } from './agent.ts';
import { toDetail } from './agent-view.ts';

/** The events that a change of an agent emits. */
export function agentEventsOf(before: Agent, after: Agent, location: string): NewEvent[] {
  const types = [
    ...(isVerified(after) && !isVerified(before) ? (['agent.verified'] as const) : []),
    ...(after.status === 'online' && before.status !== 'online' ? (['agent.online'] as const) : []),
    ...(after.status === 'offline' && before.status === 'online' ? (['agent.offline'] as const) : []),
  ];
  const { accountId, id: subjectId } = after;
  return types.map((type) => ({ type, accountId, subjectId, data: toDetail(after, location) }));
}
