import type { Tx } from '../db/sql.ts';
import { type Agent, changesFile } from './agent.ts';
import { type AgentChange, updateAgentRow } from './agent-change-store.ts';

/** Writes the named fields of an agent that the caller's transaction has locked as `before`, and when other nodes have to hear of it. */
export async function changeAgent(tx: Tx, before: Agent, change: AgentChange, now: Date): Promise<void> {
  const isShown = changesFile(before, { ...before, ...change });
  await updateAgentRow(tx, before.id, { ...change, ...(isShown ? { changedAt: now } : {}) });
}
