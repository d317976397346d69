import { listNetworkAgents } from '../../network/feed/list-network-agents.ts';
import { readNetwork } from '../../network/read-network.ts';
import { readOperatorInvocation } from '../../operator/read-operator-invocation.ts';
import { readStatus } from '../../operator/read-status.ts';
import type { Handlers } from '../request/handler.ts';

export const networkHandlers = {
  getOperatorStatus: (ctx) => readStatus(ctx),
  getOperatorInvocation: (ctx, { params }) => readOperatorInvocation(ctx, params.id),
  getNetwork: (ctx) => readNetwork(ctx),
  listNetworkAgents: (ctx, { query }) => listNetworkAgents(ctx, query),
} satisfies Partial<Handlers>;
