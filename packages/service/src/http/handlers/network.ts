import { listNetworkAgents } from '../../network/list-network-agents.ts';
import { readNetwork } from '../../network/read-network.ts';
import { readStatus } from '../../operator/read-status.ts';
import type { Handlers } from '../handler.ts';

export const networkHandlers = {
  getOperatorStatus: (ctx) => readStatus(ctx),
  getNetwork: (ctx) => readNetwork(ctx),
  listNetworkAgents: (ctx, { query }) => listNetworkAgents(ctx, query),
} satisfies Partial<Handlers>;
