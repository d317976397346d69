import type { EndpointName } from '@agent-network/contracts/api';
import type { EventType } from '@agent-network/contracts/events';

const money: readonly EndpointName[] = [
  'getAgentEarnings',
  'getBalance',
  'getTreasury',
  'listPayments',
  'getStatement',
  'getOverview',
  'getProgress',
  'getUsage',
  'listOwnAgents',
  'getReserves',
];
const channels: readonly EndpointName[] = ['listChannels', 'getChannel', 'listChannelCharges', 'listChannelHistory'];
const calls: readonly EndpointName[] = [
  'listAgentCalls',
  'listAgentErrors',
  'listInvocations',
  'getInvocation',
  'getBulk',
  ...channels,
  ...money,
];
const agents: readonly EndpointName[] = [
  'listAgents',
  'searchAgents',
  'getAgent',
  'listOwnAgents',
  'getAgentStatus',
  'getAgentHealth',
  'getAgentFacets',
  'listAlternatives',
  'getIdentity',
  'getNetwork',
  'getAgentReputation',
  'getProgress',
];

/** API answers that each event type makes stale. A view that reads another endpoint adds it here. */
const effects: Readonly<Record<EventType, readonly EndpointName[]>> = {
  'invocation.completed': calls,
  'invocation.failed': calls,
  'invocation.cancelled': calls,
  'invocation.input_required': calls,
  'payment.confirmed': [...money, 'getInvocation'],
  'payment.refunded': [...money, 'getInvocation'],
  'payment.failed': [...money, 'getInvocation'],
  'payment.held': [...money, 'getWithdrawal'],
  'deposits.confirmed': money,
  'balance.low': money,
  'agent.verified': agents,
  'agent.online': agents,
  'agent.offline': agents,
  'agent.owner_changed': agents,
  'agent.removed': agents,
  'bulk.completed': ['getBulk', 'listInvocations'],
  'withdrawal.confirmed': [...money, 'getWithdrawal'],
  'reserves.drift': ['getReserves', 'getOperatorStatus'],
  'replication.status': ['getNetwork', 'getOperatorStatus'],
  'network.node_joined': ['getNetwork', 'getAgentFacets'],
  'network.node_left': ['getNetwork', 'getAgentFacets'],
};

export const staleAfter = (type: string): readonly EndpointName[] => effects[type as EventType] ?? [];

/** API answers that every event makes stale a moment later, once it was sent to webhooks. */
export const staleSoonAfter: readonly EndpointName[] = ['listDeliveries', 'listWebhooks'];
