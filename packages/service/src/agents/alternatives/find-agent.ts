import type { AgentDetail, AgentStatusRecord } from '@agent-network/contracts/agents/agents';
import type { HasDb } from '../../db/database.ts';
import type { Sql } from '../../db/sql.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { createBatcher } from '../../lib/batcher.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { CallableAgent } from '../agent.ts';
import { countRunning, findAgentRow, findCallableRows } from '../agent-store.ts';
import { toDetail, toStatusRecord } from '../agent-view.ts';
import type { HasListing, HasNodeLabel } from '../search/listing.ts';
import { nameAlternatives } from './find-alternatives.ts';

/** Batches the look-ups of agents for concurrent calls into one query. */
export interface AgentFinder {
  find(id: string): Promise<CallableAgent | null>;
}

export interface HasAgentFinder {
  readonly agentFinder: AgentFinder;
}

export function createAgentFinder(ctx: HasDb): AgentFinder {
  const batcher = createBatcher<string, CallableAgent | null>({
    maxSize: 500,
    run: async (ids) => {
      const rows = new Map((await findCallableRows(ctx.db, [...new Set(ids)])).map((row) => [row.id, row]));
      return ids.map((id) => rows.get(id) ?? null);
    },
  });
  return { find: (id) => batcher.add(id) };
}

/** Any registered agent, online or offline. Throws NOT_FOUND. */
export async function requireAgent(ctx: HasAgentFinder, id: string): Promise<CallableAgent> {
  const agent = await ctx.agentFinder.find(id);
  if (!agent) throw notFound('agent');
  return agent;
}

/** An agent that can be called now. Throws AGENT_UNAVAILABLE with alternatives. */
export async function requireOnline(ctx: HasListing & HasAgentFinder, id: string): Promise<CallableAgent> {
  const agent = await requireAgent(ctx, id);
  if (agent.status === 'online') return agent;
  throw await unavailable(ctx, agent);
}

/** AGENT_UNAVAILABLE with the most similar agents as alternatives. */
export async function unavailable(ctx: HasListing, agent: CallableAgent): Promise<AppError<'AGENT_UNAVAILABLE'>> {
  const why = agent.status === 'offline' ? 'is offline' : 'has not proven its endpoint yet';
  return new AppError('AGENT_UNAVAILABLE', `The agent ${why}.`, {
    agentId: agent.id,
    lastSeen: agent.lastSeenAt.toISOString(),
    alternatives: await nameAlternatives(ctx, agent),
  });
}

export async function readAgent(ctx: HasDb & HasNodeLabel, id: string): Promise<AgentDetail> {
  const agent = await findAgentRow(ctx.db, id);
  if (!agent) throw notFound('agent');
  return toDetail(agent, ctx.nodeLabel);
}

export async function readAgentStatus(
  ctx: { readonly db: Sql } & HasNodeLabel & HasClock,
  id: string,
): Promise<AgentStatusRecord> {
  const agent = await findAgentRow(ctx.db, id);
  if (!agent) throw notFound('agent');
  return toStatusRecord(agent, await countRunning(ctx.db, id), ctx.nodeLabel, ctx.clock.now());
}
