import { requireAccount } from '../../access/caller.ts';
import { discoverAgents } from '../../agents/discover-agents.ts';
import { readAgent, readAgentStatus } from '../../agents/find-agent.ts';
import { listAlternatives } from '../../agents/list-alternatives.ts';
import { readHealth } from '../../agents/read-health.ts';
import { readReputation } from '../../agents/read-reputation.ts';
import { registerAgent } from '../../agents/register-agent.ts';
import { removeAgent } from '../../agents/remove-agent.ts';
import { searchAgents } from '../../agents/search-agents.ts';
import { updateAgent } from '../../agents/update-agent.ts';
import { recordHeartbeat } from '../../agents/verify-agent.ts';
import type { Handlers } from '../handler.ts';

export const agentHandlers = {
  listAgents: (ctx, { query }) => discoverAgents(ctx, query),
  searchAgents: (ctx, { body }) => searchAgents(ctx, body),
  registerAgent: (ctx, { caller, body, once }) => registerAgent(ctx, requireAccount(caller), body, once),
  getAgent: (ctx, { params }) => readAgent(ctx, params.id),
  updateAgent: (ctx, { caller, params, body }) => updateAgent(ctx, requireAccount(caller), params.id, body),
  removeAgent: (ctx, { caller, params }) => removeAgent(ctx, requireAccount(caller), params.id),
  getAgentReputation: (ctx, { params }) => readReputation(ctx, params.id),
  getAgentFacets: (ctx, { query }) => ctx.facets.read(query),
  getAgentHealth: (ctx, { params, query }) => readHealth(ctx, params.id, query),
  listAlternatives: (ctx, { params }) => listAlternatives(ctx, params.id),
  getAgentStatus: (ctx, { params }) => readAgentStatus(ctx, params.id),
  heartbeat: (ctx, { caller, params, body, once }) => recordHeartbeat(ctx, caller, params.id, body, once),
} satisfies Partial<Handlers>;
