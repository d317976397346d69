import type { HasDb } from '../db/database.ts';
import { type Agent, isVerified } from './agent.ts';
import { countAgentsOf, listAgentsOf } from './agent-store.ts';
import { toListItem } from './agent-view.ts';
import type { HasNodeLabel } from './discover-agents.ts';

/** A page of the agents that an account registered here, the newest first, and how many there are. */
export async function ownAgents(
  ctx: HasDb,
  accountId: string,
  page: { after: string | null; limit: number },
): Promise<{ agents: Agent[]; total: number }> {
  const [agents, total] = await Promise.all([
    listAgentsOf(ctx.db, accountId, page.after, page.limit),
    countAgentsOf(ctx.db, accountId),
  ]);
  return { agents, total };
}

const iso = (date: Date | null) => date?.toISOString() ?? null;

/** What an owner sees of an agent itself. */
export function toOwnAgent({ nodeLabel }: HasNodeLabel, agent: Agent) {
  const { status, ...shown } = toListItem(agent, nodeLabel);
  return {
    ...shown,
    description: agent.description,
    endpoint: agent.endpoint,
    status: agent.status === 'removed' ? ('offline' as const) : agent.status,
    verified: isVerified(agent),
    frozen: agent.frozenAt !== null,
    verification: {
      endpointProvenAt: iso(agent.endpointProvenAt),
      walletProvenAt: iso(agent.walletProvenAt),
      tokenId: agent.tokenId,
      tokenClaimedAt: iso(agent.tokenClaimedAt),
      lastCheckAt: iso(agent.lastPingAt),
      nextCheckAt: iso(agent.nextCheckAt),
    },
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}
