import { createHash } from 'node:crypto';
import type { AgentMetadata, AgentTiers, StoredStatus } from '../agent.ts';

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
  readonly status: StoredStatus;
  readonly isVerified: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The version of its declared types, as its home names it; null: it declares none. */
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
