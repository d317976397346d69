import { listNetworkAgents } from '../../network/feed/list-network-agents.ts';
import { readNetwork } from '../../network/read-network.ts';
import { readStatus } from '../../operator/read-status.ts';
import type { Handlers } from '../request/handler.ts';

export const networkHandlers = {
  getOperatorStatus: (ctx) => readStatus(ctx),
  getNetwork: (ctx) => readNetwork(ctx),
  listNetworkAgents: (ctx, { query }) => listNetworkAgents(ctx, query),
} satisfies Partial<Handlers>;
