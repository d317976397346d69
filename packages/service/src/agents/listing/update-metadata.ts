import type { AgentMetadata, AgentMetadataChange } from '@agent-network/contracts/agents/agent-metadata';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { AccountCaller } from '../../accounts/caller.ts';
import type { Store } from '../../store/database.ts';
import { changeAgent, lockOwnAgent } from '../change-agent.ts';
import { requirePrices } from './require-prices.ts';

/** Replaces the named fields of an agent's metadata; null removes one, the others stay. */
export async function updateMetadata(
  ctx: Store,
  caller: Pick<AccountCaller, 'accountId'>,
  agentId: string,
  change: AgentMetadataChange,
): Promise<DataOf<Api['updateIdentityMetadata']>> {
  return ctx.db.transaction(async (tx) => {
    const agent = await lockOwnAgent(tx, caller.accountId, agentId);
    const { metadata, updated } = mergeMetadata(agent.metadata, change);
    requirePrices(agent.perRequestMicro, metadata);
    const now = ctx.clock.now();
    const updatedAt = updated.length > 0 ? now : agent.updatedAt;
    if (updated.length > 0) await changeAgent(tx, agent, { metadata, updatedAt }, now);
    return { id: agentId, metadata, updated, updatedAt: updatedAt.toISOString() };
  });
}

/** The metadata after a change, and the names of the fields that differ from before. */
export function mergeMetadata(
  before: AgentMetadata,
  change: AgentMetadataChange,
): { metadata: AgentMetadata; updated: string[] } {
  const metadata: Record<string, unknown> = { ...before };
  const updated: string[] = [];
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || JSON.stringify(value) === JSON.stringify(metadata[name] ?? null)) continue;
    if (value === null) delete metadata[name];
    else metadata[name] = value;
    updated.push(name);
  }
  return { metadata, updated };
}
