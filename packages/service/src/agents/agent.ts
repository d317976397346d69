import type { AgentMetadata, PerUnit, PerUsage, SizeStep } from '@agent-network/contracts/agents/agent-metadata';
import type { AgentStatus } from '@agent-network/contracts/agents/agents';
import type { HttpTemplate } from '@agent-network/contracts/agents/http-template';
import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import type { StateTable } from '../lib/state-table.ts';

/** The events of the agent state machine. `refused`: the agent itself reported that it does not accept calls. */
export type AgentEvent = 'proven' | 'came_up' | 'went_down' | 'refused' | 'endpoint_changed' | 'removed';
export type StoredStatus = AgentStatus | 'removed';

/** The state machine of an agent. A pending agent can't be invoked, and probes do not change it until its endpoint is proven. */
export const agentTransitions: StateTable<StoredStatus, AgentEvent> = {
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
  readonly protocol: AgentProtocol;
  readonly upstream: StoredUpstream;
  /** Values of the headers with the origin that they are for; null: it has none. */
  readonly upstreamHeadersSealed: Buffer | null;
  /** Digest of the input that the endpoint accepted when last checked; null: not read yet. */
  readonly upstreamDigest: string | null;
  /** Fault that the last check found at the endpoint; null: none. */
  readonly fault: string | null;
  readonly faultDetail: FaultDetail | null;
  readonly metadata: AgentMetadata;
  /** Questions that the agent is for; empty: none. */
  readonly exampleQuestions: readonly string[];
  /** The version of its declared types; null: it has not declared any. */
  readonly typesId: string | null;
  readonly status: StoredStatus;
  readonly reputation: number;
  /** True while too few independent customers have paid for the score to say much. */
  readonly isNew: boolean;
  /** null: another node is its home and calls it. */
  readonly tokenSealed: Buffer | null;
  readonly endpointProvenAt: Date | null;
  readonly walletProvenAt: Date | null;
  /** The wallet of the account is proven, and is still the owner. */
  readonly isWalletProven: boolean;
  readonly accountAddress: string;
  /** Since when the account has had it, if it took it over; null: it registered it. */
  readonly ownedSince: Date | null;
  /** Time since which the chain has another owner, with a wallet not proven here; null: not frozen. */
  readonly frozenAt: Date | null;
  /** Token id in the shared registry; null: none yet. */
  readonly tokenId: string | null;
  /** The salt of its id, in hex; null: an id that is not bound to a home key, or an agent of another node. */
  readonly idSalt: string | null;
  /** Since when its owner's wallet holds the token; null: the node's registrar holds it. */
  readonly tokenClaimedAt: Date | null;
  readonly checksDone: number;
  readonly failedInARow: number;
  readonly passedInARow: number;
  readonly lastPingAt: Date | null;
  /** Time of the next endpoint check; null: none. */
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
  /** Over the last 30 days, as of the newest probe. */
  readonly probesPassed: bigint;
  readonly probes: bigint;
  /** Id of its home node, with label and base address; null: this node. */
  readonly homeNode: string | null;
  readonly homeLabel: string | null;
  readonly homeUrl: string | null;
}

/** `answer`: the endpoint's answer is the fault; `unproven`: its proof is missing. Others: there was no readable answer. */
export type FaultKind =
  | 'answer'
  | 'credentials'
  | 'unproven'
  | 'unreachable'
  | 'timeout'
  | 'redirect'
  | 'broken_off'
  | 'unreadable'
  | 'changed'
  | 'token_lost';

/** Details of a fault: status and first characters of the answer, null when there was none. */
export interface FaultDetail {
  readonly kind: FaultKind;
  readonly status: number | null;
  readonly body: string | null;
}

export type AgentTiers = { [Name in 'basic' | 'premium' | 'enterprise']?: string | undefined };

/** Upstream settings of an endpoint, without the values of its headers. */
export interface StoredUpstream {
  readonly tool?: string | undefined;
  readonly model?: string | undefined;
  readonly template?: HttpTemplate | undefined;
  /** Names of the headers that are sent along. */
  readonly headers?: readonly string[] | undefined;
}

/** The home node of an agent. */
export interface Home {
  readonly nodeId: string;
  readonly baseUrl: string;
  /** Receives the payments for the node's agents and sends their refunds; lower case. */
  readonly wallet: string;
  /** True if it asks callers of this node, as its record says. */
  readonly isInteractive: boolean;
}

/** The fields needed to call an agent; `home` is null for agents of this node. */
export type CallableAgent = Pick<
  Agent,
  | 'id'
  | 'accountId'
  | 'capabilities'
  | 'perRequestMicro'
  | 'reputation'
  | 'endpoint'
  | 'protocol'
  | 'upstream'
  | 'upstreamHeadersSealed'
  | 'status'
  | 'tokenSealed'
  | 'lastSeenAt'
  | 'typesId'
> & {
  readonly averageMs: number | null;
  /** The time that its owner declares; null: none. */
  readonly declaredTime: string | null;
  readonly home: Home | null;
  /** True when hints of callers (`metadata.priceHints`) change its price. */
  readonly takesHints: boolean;
  /** Price by units (`metadata.perUnit`); null: none. */
  readonly perUnit: PerUnit | null;
  /** Price by what a call used (`metadata.perUsage`); null: none. */
  readonly perUsage: PerUsage | null;
  /** Price by size (`metadata.sizeSteps`); null: one price for all sizes. */
  readonly sizeSteps: readonly SizeStep[] | null;
  /** Percent of its price that a call costs which is ended early after output was shown (`metadata.shownShare`). */
  readonly shownShare: number;
  /** True when chunks are shown before the result was judged (`metadata.showsUnjudged`). */
  readonly showsUnjudged: boolean;
};

/** Spec `verified`: the endpoint and the owner's wallet are proven; for a remote agent, according to its home node. */
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
  'exampleQuestions',
  'status',
  'owner',
  'tokenId',
  'typesId',
] as const;

/** True when a change alters the agent's registration file; the response time does not count. */
export const changesFile = (before: Agent, after: Agent): boolean =>
  isVerified(before) !== isVerified(after) || shownFields.some((name) => textOf(before[name]) !== textOf(after[name]));

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
