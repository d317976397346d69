import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { AgentDetail, AgentListItem } from '@agent-network/contracts/agents/agents';
import { describeAgents } from '../../../agents/search/describe-agents.ts';
import { searchAgents } from '../../../agents/search/search-agents.ts';
import { encodeJson } from '../../../lib/prepared-json.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { invalidFields } from '../common/face-error.ts';

/** Most agents in one list. */
const MAX_MODELS = 1000;

const modelOf = (agent: AgentListItem, description: string) => ({
  id: agent.id,
  object: 'model',
  created: 0,
  owned_by: agent.location,
  name: agent.name,
  description,
  capabilities: agent.capabilities,
  pricing: { request: agent.rates.perRequest, currency: 'USDC' },
});

/** An agent as a model. */
export const modelOfDetail = (agent: AgentDetail) => ({
  id: agent.id,
  object: 'model',
  created: Math.floor(Date.parse(agent.createdAt) / 1000),
  owned_by: agent.owner,
  name: agent.name,
  description: agent.description,
  capabilities: agent.capabilities,
  pricing: { request: agent.rates.perRequest, currency: 'USDC' },
});

/** Agents that are online, best reputation first. `after`: `next_after` of the list before. */
export async function listModels(ctx: HttpContext, query: Readonly<Record<string, string>>) {
  const { capability, q, maxPrice, after } = query;
  const parsed = AgentSearch.safeParse({
    query: {
      online: true,
      ...(capability ? { capabilities: { all: [capability] } } : {}),
      ...(q ? { text: q } : {}),
      ...(maxPrice ? { rates: { perRequest: { max: maxPrice } } } : {}),
    },
    ...(after ? { cursor: after } : {}),
  });
  if (!parsed.success)
    throw invalidFields(parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
  const found = await searchAgents(ctx, { ...parsed.data, limit: MAX_MODELS });
  const agents: AgentListItem[] = JSON.parse(encodeJson(found.agents).toString());
  const descriptions = await describeAgents(
    ctx,
    agents.map(({ id }) => id),
  );
  const data = agents.map((agent) => modelOf(agent, descriptions.get(agent.id) ?? ''));
  return { object: 'list', data, has_more: found.hasMore, next_after: found.nextCursor };
}
