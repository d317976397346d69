import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { AgentDetail, AgentListItem } from '@agent-network/contracts/agents/agents';
import { agentSlug } from '../../../agents/agent-slug.ts';
import { describeAgents } from '../../../agents/search/describe-agents.ts';
import { searchAgents } from '../../../agents/search/search-agents.ts';
import { AUTO } from '../../../calls/start/invocation-purchase.ts';
import { invalidFields } from '../../../lib/app-error.ts';
import { encodeJson } from '../../../lib/json/prepared-json.ts';
import { problemsOf, problemText } from '../../../lib/json/problem-text.ts';
import type { HttpContext } from '../../request/http-context.ts';

/** Most agents in one list. */
const MAX_MODELS = 1000;

type Model = Pick<AgentDetail, 'id' | 'name' | 'description' | 'capabilities' | 'owner'> & {
  readonly createdAt: Date;
  readonly perRequest: string;
};

/** The model that selects the best agent for a task within `max_cost`. */
export const autoModel = {
  id: AUTO,
  object: 'model',
  created: 0,
  owned_by: 'agent-network',
  name: 'The agent that fits best',
  description:
    'The node takes the online agent that matches the task best within max_cost, which such a call must have.',
};

const modelOf = ({ id, name, description, capabilities, owner, createdAt, perRequest }: Model) => ({
  id,
  slug: agentSlug({ id, name }),
  object: 'model',
  created: Math.floor(createdAt.getTime() / 1000),
  owned_by: owner,
  name,
  description,
  capabilities,
  pricing: { request: perRequest, currency: 'USDC' },
});

/** An agent as a model. */
export const modelOfDetail = (agent: AgentDetail) =>
  modelOf({ ...agent, createdAt: new Date(agent.createdAt), perRequest: agent.rates.perRequest });

/** Agents that are online, best reputation first. `after`: `next_after` of the list before. */
export async function listModels(ctx: HttpContext, query: Readonly<Record<string, string>>) {
  const { capability, q, maxPrice, after } = query;
  const parsed = AgentSearch.safeParse(
    {
      query: {
        online: true,
        ...(capability ? { capabilities: { all: [capability] } } : {}),
        ...(q ? { text: q } : {}),
        ...(maxPrice ? { rates: { perRequest: { max: maxPrice } } } : {}),
      },
      ...(after ? { cursor: after } : {}),
    },
    { error: problemText },
  );
  if (!parsed.success) throw invalidFields(problemsOf(parsed.error, 'query'));
  const found = await searchAgents(ctx, { ...parsed.data, limit: MAX_MODELS });
  const agents: AgentListItem[] = JSON.parse(encodeJson(found.agents).toString());
  const descriptions = await describeAgents(
    ctx,
    agents.map(({ id }) => id),
  );
  // An agent that was removed since it was found is left out.
  const data = agents.flatMap((agent) => {
    const described = descriptions.get(agent.id);
    return described ? [modelOf({ ...agent, ...described, perRequest: agent.rates.perRequest })] : [];
  });
  return { object: 'list', data, has_more: found.hasMore, next_after: found.nextCursor };
}
