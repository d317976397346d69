import { requireAccount } from '../../access/caller/caller.ts';
import { readAgent, readAgentStatus, requireAgent } from '../../agents/alternatives/find-agent.ts';
import { listAlternatives } from '../../agents/alternatives/list-alternatives.ts';
import { readHealth } from '../../agents/health/read-health.ts';
import { recordHeartbeat } from '../../agents/health/verify-agent.ts';
import { interfacesOf } from '../../agents/interfaces-of.ts';
import { registerAgent } from '../../agents/manage/register-agent.ts';
import { removeAgent } from '../../agents/manage/remove-agent.ts';
import { updateAgent } from '../../agents/manage/update-agent.ts';
import { matchAgents } from '../../agents/matching/match-agents.ts';
import { readReputation } from '../../agents/reputation/read-reputation.ts';
import { countFacets } from '../../agents/search/count-facets.ts';
import { discoverAgents } from '../../agents/search/discover-agents.ts';
import { searchAgents } from '../../agents/search/search-agents.ts';
import { listAgentCalls, listAgentErrors } from '../../invocations/read/list-agent-calls.ts';
import { readAgentEarnings } from '../../invocations/stats/read-agent-earnings.ts';
import type { Handlers } from '../request/handler.ts';

export const agentHandlers = {
  listAgents: (ctx, { query }) => discoverAgents(ctx, query),
  searchAgents: (ctx, { body }) => searchAgents(ctx, body),
  async matchAgents(ctx, { body, setHeader }) {
    const { data, position } = await matchAgents(ctx, body);
    setHeader('x-registry-position', position);
    return data;
  },
  registerAgent: (ctx, { caller, body, once }) => registerAgent(ctx, requireAccount(caller), body, once),
  getAgent: async (ctx, { params }) => ({
    ...(await readAgent(ctx, params.id)),
    interfaces: interfacesOf(ctx, params.id),
    protocol: (await requireAgent(ctx, params.id)).protocol,
  }),
  updateAgent: (ctx, { caller, params, body }) => updateAgent(ctx, requireAccount(caller), params.id, body),
  removeAgent: (ctx, { caller, params }) => removeAgent(ctx, requireAccount(caller), params.id),
  getAgentReputation: (ctx, { params }) => readReputation(ctx, params.id),
  getAgentFacets: (ctx, { query }) => countFacets(ctx, query),
  getAgentHealth: (ctx, { params, query }) => readHealth(ctx, params.id, query),
  listAgentCalls: (ctx, { caller, params, query }) => listAgentCalls(ctx, requireAccount(caller), params.id, query),
  listAgentErrors: (ctx, { caller, params, query }) => listAgentErrors(ctx, requireAccount(caller), params.id, query),
  getAgentEarnings: (ctx, { caller, params, query }) =>
    readAgentEarnings(ctx, requireAccount(caller), params.id, query),
  listAlternatives: (ctx, { params }) => listAlternatives(ctx, params.id),
  getAgentStatus: (ctx, { params }) => readAgentStatus(ctx, params.id),
  heartbeat: (ctx, { caller, params, body, once }) => recordHeartbeat(ctx, caller, params.id, body, once),
} satisfies Partial<Handlers>;
