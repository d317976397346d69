import { createHash } from 'node:crypto';
import type { AgentMetadata } from '@agent-network/contracts/agents/agent-metadata';
import { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import type { AgentTiers, StoredStatus } from '../agent.ts';
import { requireCapabilities, requireTypes } from '../listing/require-types.ts';
import { listKnownTypes, replaceRemoteTypes } from '../listing/types-store.ts';

/** A remote agent as its home node reports it, validated. `removed`: unlisted, but may come back. */
export interface RemoteAgent {
  readonly id: string;
  readonly tokenId: string;
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly perRequestMicro: bigint;
  readonly perHourMicro: bigint;
  readonly tiers: AgentTiers;
  readonly metadata: AgentMetadata;
  readonly exampleQuestions: readonly string[];
  readonly status: StoredStatus;
  readonly isVerified: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Version of its declared types, by its home's id; null: it declares none. */
  readonly typesVersion: string | null;
}

/** The home node of remote agents. */
export interface HomeNode {
  readonly nodeId: string;
  readonly accountId: string;
  readonly baseUrl: string;
  readonly isOnline: boolean;
}

/**
 * This node's id of a version of a remote agent's types; null: it declares none. The agent is part of it, so that a home that names the
 * version of somebody else's types changes nothing there.
 */
export const remoteTypesId = ({ id, typesVersion }: Pick<RemoteAgent, 'id' | 'typesVersion'>): string | null =>
  typesVersion === null ? null : `typ_r${createHash('sha256').update(`${id} ${typesVersion}`).digest('hex')}`;

/** Reads types of an agent from another node, under the same limits as for this node's agents. Throws for any that break them. */
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

/** Ids of agents with a version of types that is not stored here; their own files have it. */
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
