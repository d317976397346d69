import { listNetworkAgents } from '../../network/list-network-agents.ts';
import { readNetwork } from '../../network/read-network.ts';
import type { Handlers } from '../handler.ts';

export const networkHandlers = {
  getNetwork: (ctx) => readNetwork(ctx),
  listNetworkAgents: (ctx, { query }) => listNetworkAgents(ctx, query),
} satisfies Partial<Handlers>;
