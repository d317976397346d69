import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail, AgentStatusRecord } from '@agent-network/contracts/agents/agents';
import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import type { Store } from '../../store/database.ts';
import { createLazyCopies } from '../../store/replica/lazy-copies.ts';
import type { Replica } from '../../store/replica/replica.ts';
import type { Sql } from '../../store/sql.ts';
import type { CallableAgent } from '../agent.ts';
import { isId } from '../agent-id.ts';
import type { AgentFinder, AgentServices } from '../agent-services.ts';
import { agentIdOf } from '../agent-slug.ts';
import { findMeant, findSlugOf } from '../agent-slug-store.ts';
import { countRunning, findAgentRow, findCallableRows, findOwner } from '../agent-store.ts';
import { toDetail, toStatusRecord } from '../agent-view.ts';
import { readTypes } from '../listing/declare-types.ts';
import { nameAlternatives } from './find-alternatives.ts';

const MAX_HELD = 50_000;
/** Maximum age of averages and of the time an agent was last seen. The change log covers everything else that a call depends on. */
const AGE_MS = 1000;

export function createAgentFinder(ctx: Pick<Store, 'db'> & { readonly replica: Replica }): AgentFinder {
  const copies = createLazyCopies<CallableAgent>(ctx, {
    max: MAX_HELD,
    maxAgeMs: AGE_MS,
    topics: ['agent', 'node'],
    tagsOf: ({ id, home }) => (home ? [`agent ${id}`, `node ${home.nodeId}`] : [`agent ${id}`]),
    read: async (ids) => new Map((await findCallableRows(ctx.db, ids)).map((row) => [row.id, row])),
  });
  return { find: async (id) => (isId(id) ? copies.find(id) : null), forget: copies.forget };
}

/** Candidates that a refusal names. */
const MAX_NAMED = 5;

/**
 * The id that an id, slug or name means. Ids, and addresses that end in one, are not looked up. Throws NOT_FOUND, and VALIDATION_ERROR for
 * `path` with the ids when a name may mean several agents.
 */
export async function resolveAgent(ctx: Pick<Store, 'db'>, ref: string, path: string): Promise<string> {
  const id = ref.startsWith('agt_') ? ref : agentIdOf(ref);
  if (id !== null) return id;
  const meant = await findMeant(ctx.db, ref);
  if ('id' in meant) return meant.id;
  if (meant.ids.length === 0) throw notFound('agent');
  const ids = `${meant.ids.slice(0, MAX_NAMED).join(', ')}${meant.ids.length > MAX_NAMED ? ', …' : ''}`;
  throw invalid(path, `is a name that several agents have, or had before: use an id (${ids})`);
}

/** Any registered agent, online or offline. Throws NOT_FOUND. */
export async function requireAgent(ctx: AgentServices, id: string): Promise<CallableAgent> {
  const agent = await findPresent(ctx, id);
  if (!agent) throw notFound('agent');
  return agent;
}

/** An agent that is or was registered; null: it is removed. Throws NOT_FOUND. For debts to callers of agents that are gone. */
export async function findEvenRemoved(ctx: AgentServices & Store, id: string): Promise<CallableAgent | null> {
  const agent = await findPresent(ctx, id);
  const hasBeen = agent !== null || (isId(id) && (await findOwner(ctx.db, id)) !== null);
  if (!hasBeen) throw notFound('agent');
  return agent;
}

/** An agent that memory has as not online is read again: it may have come online a moment ago, which its owner has seen already. */
async function findPresent({ agentFinder }: AgentServices, id: string): Promise<CallableAgent | null> {
  const agent = await agentFinder.find(id);
  if (agent === null || agent.status === 'online') return agent;
  agentFinder.forget(id);
  return agentFinder.find(id);
}

/** An agent that can be called now. Throws AGENT_UNAVAILABLE with alternatives. */
export async function requireOnline(ctx: AgentServices, id: string): Promise<CallableAgent> {
  const agent = await requireAgent(ctx, id);
  if (agent.status === 'online') return agent;
  throw await unavailable(ctx, agent);
}

/** AGENT_UNAVAILABLE with the most similar agents as alternatives. */
export async function unavailable(ctx: AgentServices, agent: CallableAgent): Promise<AppError<'AGENT_UNAVAILABLE'>> {
  const why = agent.status === 'offline' ? 'is offline' : 'has not proven its endpoint yet';
  return new AppError('AGENT_UNAVAILABLE', `The agent ${why}.`, {
    agentId: agent.id,
    lastSeen: agent.lastSeenAt.toISOString(),
    alternatives: await nameAlternatives(ctx, agent),
  });
}

/** The agent with its slug, and its declared types, if any. */
export async function readAgent(
  ctx: Store & { readonly nodeLabel: string },
  id: string,
): Promise<AgentDetail & { slug: string | null; types?: AgentTypes }> {
  const agent = isId(id) ? await findAgentRow(ctx.db, id) : null;
  if (!agent) throw notFound('agent');
  const types = agent.typesId && (await readTypes(ctx.db, agent.typesId));
  const slug = await findSlugOf(ctx.db, id);
  return { ...toDetail(agent, ctx.nodeLabel), slug, ...(types ? { types } : {}) };
}

export async function readAgentStatus(
  ctx: Pick<Store, 'clock'> & { readonly nodeLabel: string; readonly db: Sql },
  id: string,
): Promise<AgentStatusRecord> {
  const agent = await findAgentRow(ctx.db, id);
  if (!agent) throw notFound('agent');
  return toStatusRecord(agent, await countRunning(ctx.db, id), ctx.nodeLabel, ctx.clock.now());
}
