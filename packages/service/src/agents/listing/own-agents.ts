import type { Suspension } from '../../accounts/suspension.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { iso } from '../../lib/iso.ts';
import type { Store } from '../../store/database.ts';
import { type Agent, isVerified } from '../agent.ts';
import { countAgentsOf, findLocalAgentRow, listAgentsOf, type OwnAgentsPage } from '../agent-store.ts';
import { toListItem } from '../agent-view.ts';
import { offlineReason } from '../health/offline-reason.ts';
import { toOwnUpstream } from '../health/upstream.ts';

/** A page of the agents that an account registered here, newest first, with the total; with `agentId` only that agent. */
export async function ownAgents(
  ctx: Store,
  accountId: string,
  page: OwnAgentsPage,
): Promise<{ agents: Agent[]; total: number }> {
  const [agents, total] = await Promise.all([
    listAgentsOf(ctx.db, accountId, page),
    countAgentsOf(ctx.db, accountId, { agentId: page.agentId }),
  ]);
  return { agents, total };
}

/** An agent of the account, removed or not, for records of its past. Throws NOT_FOUND, and FORBIDDEN for another's. */
export async function requireOwned({ db }: Store, accountId: string, agentId: string): Promise<Agent> {
  const agent = await findLocalAgentRow(db, agentId);
  if (!agent) throw notFound('agent');
  if (agent.accountId !== accountId) throw new AppError('FORBIDDEN', 'This agent belongs to another account.');
  return agent;
}

/** The owner's view of an agent. */
export function toOwnAgent({ nodeLabel }: { readonly nodeLabel: string }, agent: Agent, suspension: Suspension | null) {
  const { status, ...shown } = toListItem(agent, nodeLabel);
  return {
    ...shown,
    description: agent.description,
    endpoint: agent.endpoint,
    protocol: agent.protocol,
    upstream: toOwnUpstream(agent.upstream),
    fault: agent.fault,
    offline: offlineReason(agent, suspension),
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
