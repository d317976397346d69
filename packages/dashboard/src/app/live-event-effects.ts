import type { EndpointName } from '@agent-network/contracts/api';
import type { EventType } from '@agent-network/contracts/events';

const money: readonly EndpointName[] = ['getBalance', 'listPayments', 'getStatement', 'getUsage'];
const calls: readonly EndpointName[] = ['listInvocations', 'getInvocation', 'getBulk', ...money];
const agents: readonly EndpointName[] = ['listAgents', 'getAgent'];

/** Which answers of the API each event makes stale. A view that reads another endpoint adds it here. */
const effects: Readonly<Record<EventType, readonly EndpointName[]>> = {
  'invocation.completed': calls,
  'invocation.failed': calls,
  'invocation.cancelled': calls,
  'payment.confirmed': money,
  'payment.refunded': [...money, 'getInvocation'],
  'payment.failed': [...money, 'getInvocation'],
  'agent.verified': agents,
  'agent.online': agents,
  'agent.offline': agents,
  'agent.owner_changed': agents,
  'agent.removed': agents,
  'bulk.completed': ['getBulk'],
  'withdrawal.confirmed': [...money, 'getWithdrawal'],
  'reserves.drift': ['getReserves'],
  'replication.status': ['getNetwork'],
  'network.node_joined': ['getNetwork'],
  'network.node_left': ['getNetwork'],
};

export const staleAfter = (type: string): readonly EndpointName[] => effects[type as EventType] ?? [];
