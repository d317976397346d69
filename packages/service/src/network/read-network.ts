import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { HasNodeLabel } from '../agents/discover-agents.ts';
import { countAgents } from '../agents/list-remote-agents.ts';
import type { HasDb } from '../db/database.ts';
import { nodeTokenOf } from '../identity/registry/announce-node.ts';
import { readChainIndex } from '../identity/registry/read-chain-index.ts';
import type { HasRegistry } from '../identity/registry/registry-info.ts';
import type { HasClock } from '../lib/clock.ts';
import { NODE_VERSION } from '../lib/node-version.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';
import type { HasChain } from '../payments/x402/chain-info.ts';
import { listNodes } from './node-store.ts';
import { MOST_NODES } from './start-network.ts';

type ReadContext = HasDb & HasClock & HasChain & HasRegistry & HasBaseUrl & HasNodeLabel;

/** This node, those that it knows, and how far it has read the registry that they share. */
export async function readNetwork(ctx: ReadContext): Promise<DataOf<Api['getNetwork']>> {
  const index = await readChainIndex(ctx);
  const { local, ofNode } = await countAgents(ctx);
  const nodes = await listNodes(ctx.db, MOST_NODES);
  return {
    node: {
      label: ctx.nodeLabel,
      baseUrl: ctx.baseUrl,
      version: NODE_VERSION,
      wallet: ctx.chain.wallet,
      tokenId: await nodeTokenOf(ctx),
    },
    index,
    agents: { local, remote: [...ofNode.values()].reduce((sum, count) => sum + count, 0) },
    nodes: nodes.map((node) => ({
      ...{ nodeId: node.nodeId, label: node.label, baseUrl: node.baseUrl, version: node.version, wallet: node.wallet },
      status: node.status,
      agents: ofNode.get(node.nodeId) ?? 0,
      joinedAt: node.joinedAt.toISOString(),
      lastSeen: node.lastSeenAt.toISOString(),
    })),
  };
}
