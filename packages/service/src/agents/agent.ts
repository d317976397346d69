import type { AgentStatus } from '@agent-network/contracts/agents/agents';

/** What can happen to an agent. `refused`: it said itself that it takes no calls. */
export type AgentEvent = 'proven' | 'came_up' | 'went_down' | 'refused' | 'endpoint_changed' | 'removed';
export type StoredStatus = AgentStatus | 'removed';

/** The life of an agent. A pending agent can't be invoked; what a probe says of it counts for nothing until it is proven. */
export const agentTransitions: Record<StoredStatus, Record<AgentEvent, StoredStatus | 'ignored' | 'illegal'>> = {
  pending_verification: {
    proven: 'online',
    came_up: 'ignored',
    went_down: 'ignored',
    refused: 'ignored',
    endpoint_changed: 'ignored',
    removed: 'removed',
  },
  online: {
    proven: 'ignored',
    came_up: 'ignored',
    went_down: 'offline',
    refused: 'offline',
    endpoint_changed: 'pending_verification',
    removed: 'removed',
  },
  offline: {
    proven: 'online',
    came_up: 'online',
    went_down: 'ignored',
    refused: 'ignored',
    endpoint_changed: 'pending_verification',
    removed: 'removed',
  },
  removed: {
    proven: 'illegal',
    came_up: 'illegal',
    went_down: 'illegal',
    refused: 'illegal',
    endpoint_changed: 'illegal',
    removed: 'ignored',
  },
};

/** The status after an event; the same one when the event changes nothing. */
export function nextAgentStatus(status: StoredStatus, event: AgentEvent): StoredStatus {
  const next = agentTransitions[status][event];
  return next === 'ignored' || next === 'illegal' ? status : next;
}

export interface Agent {
  readonly id: string;
  readonly accountId: string;
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: string[];
  readonly perRequestMicro: bigint;
  readonly perHourMicro: bigint;
  readonly tiers: AgentTiers;
  readonly endpoint: string;
  readonly metadata: AgentMetadata;
  readonly status: StoredStatus;
  readonly reputation: number;
  /** null: it is at home at another node, which calls it. */
  readonly tokenSealed: Buffer | null;
  readonly endpointProvenAt: Date | null;
  readonly walletProvenAt: Date | null;
  /** Of the account, as long as its wallet is the owner. */
  readonly isWalletProven: boolean;
  readonly accountAddress: string;
  /** Since when the chain says that another wallet owns it, which has not been proven here; null: not so. */
  readonly frozenAt: Date | null;
  /** Its entry in the shared registry; null: none yet. */
  readonly tokenId: string | null;
  /** What its id was made with, in hex; null: an id that does not say whose it is, or an agent of another node. */
  readonly idSalt: string | null;
  /** Since when its owner's wallet holds the token; null: the registrar of the node does. */
  readonly tokenClaimedAt: Date | null;
  readonly checksDone: number;
  readonly failedInARow: number;
  readonly passedInARow: number;
  readonly lastPingAt: Date | null;
  /** When its endpoint is checked again; null: not any more. */
  readonly nextCheckAt: Date | null;
  readonly lastSeenAt: Date;
  readonly responseMs: number | null;
  readonly reportedLoad: number | null;
  readonly reportedAt: Date | null;
  readonly isAccepting: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly completed: bigint;
  readonly failed: bigint;
  readonly durationMs: bigint;
  /** Of the last 30 days, as of the newest probe. */
  readonly probesPassed: bigint;
  readonly probes: bigint;
  /** The node of the network where it is at home, with its label and base address; null: this one. */
  readonly homeNode: string | null;
  readonly homeLabel: string | null;
  readonly homeUrl: string | null;
}

export type AgentTiers = { [Name in 'basic' | 'premium' | 'enterprise']?: string | undefined };

export interface AgentMetadata {
  avatar?: string | undefined;
  website?: string | undefined;
  tags?: string[] | undefined;
  maxConcurrency?: number | undefined;
  priceHints?: boolean | undefined;
}

/** The node of the network where an agent is at home. */
export interface Home {
  readonly nodeId: string;
  readonly baseUrl: string;
  /** Takes the payments for its agents, and sends their refunds; lower case. */
  readonly wallet: string;
}

/** What is needed to call an agent; `home` is null for those of this node. */
export type CallableAgent = Pick<
  Agent,
  | 'id'
  | 'accountId'
  | 'capabilities'
  | 'perRequestMicro'
  | 'reputation'
  | 'endpoint'
  | 'status'
  | 'tokenSealed'
  | 'lastSeenAt'
> & {
  readonly averageMs: number | null;
  readonly home: Home | null;
  /** Whether the hints of callers change its price (`metadata.priceHints`). */
  readonly takesHints: boolean;
};

/** Spec: `verified`. The endpoint was proven and the owner's wallet was; of an agent of another node, that node says so. */
export const isVerified = (agent: Pick<Agent, 'endpointProvenAt' | 'isWalletProven'>): boolean =>
  agent.endpointProvenAt !== null && agent.isWalletProven;

const shownFields = [
  'name',
  'description',
  'capabilities',
  'perRequestMicro',
  'perHourMicro',
  'tiers',
  'metadata',
  'status',
  'owner',
  'tokenId',
] as const;

/** Whether an agent's registration file says something else than before, how fast it answers aside. */
export const changesFile = (before: Agent, after: Agent): boolean =>
  isVerified(before) !== isVerified(after) || shownFields.some((name) => textOf(before[name]) !== textOf(after[name]));

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
