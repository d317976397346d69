import { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { Sql, Tx } from '../../db/sql.ts';
import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { requireCapabilities, requireTypes } from '../types/require-types.ts';
import { listKnownTypes, replaceRemoteTypes } from '../types/types-store.ts';
import { type RemoteAgent, remoteTypesId } from './remote-agent.ts';

/** Reads the types that another node says of its agent, under the same limits as those of our own agents. Throws for any that break them. */
export async function readRemoteTypes(
  text: string,
  { capabilities, home }: { readonly capabilities: readonly string[]; readonly home: string },
): Promise<AgentTypes> {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value, MAX_LEVELS.schemas))
    throw new Error(`the types are nested deeper than ${MAX_LEVELS.schemas} levels`);
  const types = AgentTypes.parse(value);
  requireCapabilities(types, capabilities);
  await requireTypes(types, home);
  return types;
}

/** Stores the version that the agent's home names, before the agent itself: its row then points to it. */
export async function saveRemoteTypes(tx: Tx, agent: RemoteAgent, types: AgentTypes, now: Date): Promise<void> {
  const id = remoteTypesId(agent);
  if (id !== null) await replaceRemoteTypes(tx, { id, agentId: agent.id, declared: types }, now);
}

/** The ids of those agents whose home names a version of types that is not stored: their own files have it. */
export async function listWithUnknownTypes(sql: Sql, agents: readonly RemoteAgent[]): Promise<ReadonlySet<string>> {
  const named = agents.flatMap((agent) => {
    const typesId = remoteTypesId(agent);
    return typesId === null ? [] : [{ id: agent.id, typesId }];
  });
  if (named.length === 0) return new Set();
  const known = new Set(
    await listKnownTypes(
      sql,
      named.map(({ typesId }) => typesId),
    ),
  );
  return new Set(named.filter(({ typesId }) => !known.has(typesId)).map(({ id }) => id));
}
