import type { AgentDetail, AgentListItem, AgentStatusRecord } from '@agent-network/contracts/agents/agents';
import { formatUsdc } from '@agent-network/contracts/money';
import { formatDuration } from '../lib/duration.ts';
import { type Agent, isVerified, type StoredStatus } from './agent.ts';

const share = (part: bigint, whole: bigint) => (whole === 0n ? 0 : Number(part) / Number(whole));

/** A removed agent is never shown; the type of the wire leaves it out. */
const shownStatus = (status: StoredStatus) => (status === 'removed' ? 'offline' : status);

export type ListedAgent = Pick<
  Agent,
  | 'id'
  | 'name'
  | 'capabilities'
  | 'perRequestMicro'
  | 'perHourMicro'
  | 'reputation'
  | 'isNew'
  | 'status'
  | 'responseMs'
  | 'endpointProvenAt'
  | 'isWalletProven'
  | 'homeLabel'
>;

/** `nodeLabel`: this node's label, the location of agents that have no other home node. */
export const toListItem = (agent: ListedAgent, nodeLabel: string): AgentListItem => ({
  id: agent.id,
  name: agent.name,
  capabilities: agent.capabilities,
  rates: { perRequest: formatUsdc(agent.perRequestMicro), perHour: formatUsdc(agent.perHourMicro) },
  reputation: agent.reputation,
  isNew: agent.isNew,
  status: agent.status === 'online' ? 'online' : 'offline',
  location: agent.homeLabel ?? nodeLabel,
  responseTime: formatDuration(agent.responseMs ?? 0),
  verified: isVerified(agent),
});

export function toDetail(agent: Agent, nodeLabel: string): AgentDetail {
  const perRequest = formatUsdc(agent.perRequestMicro);
  const calls = agent.completed + agent.failed;
  return {
    id: agent.id,
    name: agent.name,
    description: agent.description,
    capabilities: agent.capabilities,
    rates: {
      perRequest,
      perHour: formatUsdc(agent.perHourMicro),
      tiers: {
        basic: agent.tiers.basic ?? perRequest,
        premium: agent.tiers.premium ?? perRequest,
        enterprise: agent.tiers.enterprise ?? perRequest,
      },
    },
    owner: agent.owner,
    reputation: agent.reputation,
    isNew: agent.isNew,
    totalRequests: Number(calls),
    successRate: share(agent.completed, calls),
    avgResponseTime: formatDuration(agent.completed === 0n ? 0 : Number(agent.durationMs) / Number(agent.completed)),
    uptime: share(agent.probesPassed, agent.probes),
    verified: isVerified(agent),
    online: agent.status === 'online',
    endpoint: agent.endpoint,
    lastSeen: agent.lastSeenAt.toISOString(),
    createdAt: agent.createdAt.toISOString(),
    status: shownStatus(agent.status),
    location: agent.homeLabel ?? nodeLabel,
    metadata: agent.metadata,
    exampleQuestions: [...agent.exampleQuestions],
    updatedAt: agent.updatedAt.toISOString(),
    frozen: agent.frozenAt !== null,
  };
}

/** Period for which an agent's own report of its load is used; after it, the number of open calls through this node. */
const REPORT_HOLDS_MS = 120_000;
const DEFAULT_CONCURRENCY = 32;

/** The load of an agent, 0 to 1: the higher of its open calls and its own fresh report. */
export function loadOf(
  { metadata, reportedLoad, reportedAt }: Pick<Agent, 'metadata' | 'reportedLoad' | 'reportedAt'>,
  running: number,
  now: Date,
): number {
  const isReportFresh = reportedAt !== null && now.getTime() - reportedAt.getTime() < REPORT_HOLDS_MS;
  const measured = Math.min(1, running / (metadata.maxConcurrency ?? DEFAULT_CONCURRENCY));
  return Math.max(measured, isReportFresh ? (reportedLoad ?? 0) : 0);
}

export function toStatusRecord(agent: Agent, running: number, nodeLabel: string, now: Date): AgentStatusRecord {
  return {
    id: agent.id,
    online: agent.status === 'online',
    lastPing: (agent.lastPingAt ?? agent.createdAt).toISOString(),
    responseTime: formatDuration(agent.responseMs ?? 0),
    load: loadOf(agent, running, now),
    location: agent.homeLabel ?? nodeLabel,
    status: shownStatus(agent.status),
  };
}
