import { listNetworkAgents } from '../../network/feed/list-network-agents.ts';
import { readNetwork } from '../../network/read-network.ts';
import { listOperatorClaims, readOperatorChannels } from '../../operator/read-operator-channels.ts';
import { readOperatorInvocation } from '../../operator/read-operator-invocation.ts';
import { readStatus } from '../../operator/read-status.ts';
import type { Handlers } from '../request/handler.ts';

export const networkHandlers = {
  getOperatorStatus: (ctx) => readStatus(ctx),
  getOperatorTotals: (ctx) => ctx.totals.read(),
  getOperatorInvocation: (ctx, { params }) => readOperatorInvocation(ctx, params.id),
  getOperatorChannels: (ctx) => readOperatorChannels(ctx),
  listOperatorClaims: (ctx, { query }) => listOperatorClaims(ctx, query),
  getNetwork: (ctx) => readNetwork(ctx),
  listNetworkAgents: (ctx, { query }) => listNetworkAgents(ctx, query),
} satisfies Partial<Handlers>;
