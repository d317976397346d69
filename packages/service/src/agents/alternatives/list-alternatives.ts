import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { HasDb } from '../../db/database.ts';
import { findAgentRows } from '../agent-store.ts';
import { toListItem } from '../agent-view.ts';
import type { HasNodeLabel } from '../search/discover-agents.ts';
import { type HasAgentFinder, requireAgent } from './find-agent.ts';
import { nameAlternatives } from './find-alternatives.ts';

/**
 * The alternatives that AGENT_UNAVAILABLE would name for this agent, as list items. Reads at most 200 agents for each of its capabilities.
 */
export async function listAlternatives(
  ctx: HasDb & HasAgentFinder & HasNodeLabel,
  id: string,
): Promise<DataOf<Api['listAlternatives']>> {
  const named = await nameAlternatives(ctx, await requireAgent(ctx, id));
  const found = await findAgentRows(
    ctx.db,
    named.map(({ agentId }) => agentId),
  );
  const byId = new Map(found.map((agent) => [agent.id, agent]));
  return {
    agents: named.flatMap(({ agentId, similarity }) => {
      const agent = byId.get(agentId);
      return agent ? [{ ...toListItem(agent, ctx.nodeLabel), similarity }] : [];
    }),
  };
}
