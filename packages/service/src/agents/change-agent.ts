import type { Tx } from '../db/sql.ts';
import { type Agent, changesFile } from './agent.ts';
import { type AgentChange, updateAgentRow } from './agent-change-store.ts';

/**
 * Writes the named fields of an agent that the caller's transaction has locked as `before`, and puts it into the feed to other nodes if
 * they need to know.
 */
export async function changeAgent(tx: Tx, before: Agent, change: AgentChange, now: Date): Promise<void> {
  const isShown = changesFile(before, { ...before, ...change });
  await updateAgentRow(tx, before.id, { ...change, ...(isShown ? { changedAt: now } : {}) });
}
