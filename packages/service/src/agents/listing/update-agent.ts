import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentUpdate } from '@agent-network/contracts/agents/agents';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { type Agent, nextAgentStatus } from '../agent.ts';
import type { AgentChange } from '../agent-change-store.ts';
import type { AgentServices } from '../agent-services.ts';
import { takeSlug } from '../agent-slug-store.ts';
import { changeAgent, lockOwnAgent } from '../change-agent.ts';
import { mergeUpstream, toOwnUpstream } from '../health/upstream.ts';
import { declareTypes, readTypes } from './declare-types.ts';
import { requireCallable } from './register-agent.ts';
import { requirePrices } from './require-prices.ts';
import { requireCapabilities, requireTypes } from './require-types.ts';
import { mergeMetadata } from './update-metadata.ts';

/** Changes the fields that the body names. A new endpoint or protocol has to be proven before the agent is invoked again. */
export async function updateAgent(
  ctx: Store & Pick<NodeKeys, 'secrets'> & Outbound & AgentServices,
  caller: Pick<AccountCaller, 'accountId'>,
  agentId: string,
  input: AgentUpdate,
): Promise<DataOf<Api['updateAgent']>> {
  if (input.endpoint !== undefined) requireCallable(ctx, input.endpoint);
  if (input.types) await requireTypes(input.types, caller.accountId);
  const now = ctx.clock.now();
  const { updated, updatedAt } = await ctx.db.transaction(async (tx) => {
    const agent = await lockOwnAgent(tx, caller.accountId, agentId);
    const { change, names } = changeOf(ctx.secrets, agent, input, now);
    requirePrices(change.perRequestMicro ?? agent.perRequestMicro, change.metadata ?? agent.metadata);
    const types = await typesChange(tx, agent, input);
    if (types !== undefined) {
      Object.assign(change, { typesId: await declareTypes(tx, { agentId, replaces: agent.typesId, types }, now) });
      names.push('types');
    }
    if (names.length === 0) return { updated: names, updatedAt: agent.updatedAt };
    await changeAgent(tx, agent, { ...change, updatedAt: now }, now);
    if (input.name !== undefined && names.includes('name')) await takeSlug(tx, { id: agentId, name: input.name });
    return { updated: names, updatedAt: now };
  });
  if (checkedFields.some((name) => updated.includes(name))) ctx.agentChecks.requestRun();
  return { id: agentId, updated, updatedAt: updatedAt.toISOString() };
}

/**
 * The new types, if they change; null: none any more. Throws VALIDATION_ERROR for such that do not fit the agent's capabilities. Types of
 * the body were checked before, outside of the transaction.
 */
async function typesChange(tx: Tx, agent: Agent, input: AgentUpdate): Promise<AgentTypes | null | undefined> {
  const before = agent.typesId && (await readTypes(tx, agent.typesId));
  const types = input.types === undefined ? before : input.types;
  requireCapabilities(types || null, input.capabilities ?? agent.capabilities);
  return input.types === undefined || isSame(input.types, before || null) ? undefined : input.types;
}

/** Fields that trigger a check of the endpoint when changed. */
const checkedFields = ['endpoint', 'protocol', 'upstream'];

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The fields that differ from the stored agent, and their names on the wire. */
function changeOf(
  secrets: Secrets,
  agent: Agent,
  input: AgentUpdate,
  now: Date,
): { change: AgentChange; names: string[] } {
  const change: AgentChange = {};
  const names: string[] = [];
  for (const name of ['name', 'description', 'capabilities', 'exampleQuestions'] as const) {
    const value = name === 'exampleQuestions' && input[name] === null ? [] : input[name];
    if (value === undefined || isSame(value, agent[name])) continue;
    Object.assign(change, { [name]: value });
    names.push(name);
  }
  const { metadata, updated } = mergeMetadata(agent.metadata, input.metadata ?? {});
  if (updated.length > 0) {
    Object.assign(change, { metadata });
    names.push('metadata');
  }
  const rates = input.rates === undefined ? {} : ratesChange(agent, input.rates);
  if (Object.keys(rates).length > 0) {
    Object.assign(change, rates);
    names.push('rates');
  }
  const upstream = upstreamChange(secrets, agent, input, now);
  Object.assign(change, upstream.change);
  names.push(...upstream.names);
  return { change, names };
}

/** Changes of the endpoint's address and upstream settings. Given headers count as new ones: they are not compared. */
function upstreamChange(
  secrets: Secrets,
  agent: Agent,
  input: AgentUpdate,
  now: Date,
): { change: AgentChange; names: string[] } {
  if ([input.endpoint, input.protocol, input.upstream].every((each) => each === undefined))
    return { change: {}, names: [] };
  const after = mergeUpstream(secrets, agent, input);
  const isMoved = after.endpoint !== agent.endpoint;
  const isTranslated = after.protocol !== agent.protocol;
  const isUpstreamNew =
    input.upstream?.headers !== undefined || !isSame(toOwnUpstream(after.upstream), toOwnUpstream(agent.upstream));
  const names = [
    ...(isMoved ? ['endpoint'] : []),
    ...(isTranslated ? ['protocol'] : []),
    ...(isUpstreamNew ? ['upstream'] : []),
  ];
  if (names.length === 0) return { change: {}, names };
  const unread = { upstreamDigest: null, nextCheckAt: now };
  if (!isMoved && !isTranslated) return { change: { ...after, ...unread }, names };
  const status = nextAgentStatus(agent.status, 'endpoint_changed');
  return {
    change: { ...after, ...unread, endpointProvenAt: null, status, checksDone: 0, fault: null, faultDetail: null },
    names,
  };
}

function ratesChange(agent: Agent, rates: NonNullable<AgentUpdate['rates']>): AgentChange {
  const perRequestMicro = rates.perRequest === undefined ? agent.perRequestMicro : parseUsdc(rates.perRequest);
  const followsRequest = agent.perHourMicro === agent.perRequestMicro;
  const kept = followsRequest ? perRequestMicro : agent.perHourMicro;
  const perHourMicro = rates.perHour === undefined ? kept : parseUsdc(rates.perHour);
  const tiers = { ...agent.tiers, ...rates.tiers };
  return {
    ...(perRequestMicro === agent.perRequestMicro ? {} : { perRequestMicro }),
    ...(perHourMicro === agent.perHourMicro ? {} : { perHourMicro }),
    ...(isSame(tiers, agent.tiers) ? {} : { tiers }),
  };
}
