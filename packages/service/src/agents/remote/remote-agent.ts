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
}

/** The home node of remote agents. */
export interface HomeNode {
  readonly nodeId: string;
  readonly accountId: string;
  readonly baseUrl: string;
  readonly isOnline: boolean;
}
