import type { NewEvent } from '../events/outbox/new-event.ts';
import { AppError, notFound } from '../lib/app-error.ts';
import type { Tx } from '../store/sql.ts';
import { type Agent, changesFile, isVerified } from './agent.ts';
import { type AgentChange, updateAgentRow } from './agent-change-store.ts';
import { lockAgentRow } from './agent-lock-store.ts';
import { toDetail } from './agent-view.ts';

/**
 * Writes the named fields of an agent that the caller's transaction has locked as `before`, and puts it into the feed to other nodes if
 * they need to know.
 */
export async function changeAgent(tx: Tx, before: Agent, change: AgentChange, now: Date): Promise<void> {
  const isShown = changesFile(before, { ...before, ...change });
  await updateAgentRow(tx, before.id, { ...change, ...(isShown ? { changedAt: now } : {}) });
}

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

const SOLD =
  'The token of this agent belongs to another wallet now. Its holder takes the agent over: sign in with that wallet, or that of the account which it is linked to, then POST /identity/verify with proof "wallet".';

/**
 * Locks an agent that the account registered. Existence of an agent is public, so other accounts get FORBIDDEN, not NOT_FOUND. Throws
 * CONFLICT for a remote agent, which only its home node changes.
 */
export async function lockOwnAgent(tx: Tx, accountId: string, agentId: string): Promise<Agent> {
  const agent = await lockAgentRow(tx, agentId);
  if (!agent) throw notFound('agent');
  if (agent.homeNode !== null)
    throw new AppError('CONFLICT', `This agent is at home at ${agent.homeUrl} (${agent.homeLabel}): change it there.`);
  if (agent.accountId !== accountId) throw new AppError('FORBIDDEN', 'This agent belongs to another account.');
  if (agent.frozenAt !== null) throw new AppError('FORBIDDEN', SOLD);
  return agent;
}
