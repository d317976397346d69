import type { Tx } from '../db/sql.ts';
import { AppError, notFound } from '../lib/app-error.ts';
import type { Agent } from './agent.ts';
import { lockAgentRow } from './agent-lock-store.ts';

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
