import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { AgentServices } from '../agents/agent-services.ts';
import { countAgents } from '../agents/search/list-remote-agents.ts';
import { readGates } from '../chain/blocks/gates.ts';
import { assetIdOf, type NodeIdentity, nameAsset } from '../chain/chain-info.ts';
import { type Networks, onEach } from '../chain/networks.ts';
import { NODE_VERSION } from '../lib/process/node-version.ts';
import { readChainIndex } from '../registry/read/read-chain-index.ts';
import type { RegistryIndex } from '../registry/read/registry-tokens.ts';
import { nodeTokenOf } from '../registry/write/announce-node.ts';
import type { Store } from '../store/database.ts';
import { listNodes } from './node-store.ts';
import { MAX_NODES } from './start-network.ts';

type ReadContext = Store & NodeIdentity & Networks & RegistryIndex & AgentServices & { readonly nodeLabel: string };

/** This node, the nodes known to it, and its progress in the shared registry. */
export async function readNetwork(ctx: ReadContext): Promise<DataOf<Api['getNetwork']>> {
  const index = await readChainIndex(ctx);
  const { local, ofNode } = await countAgents(ctx);
  const nodes = await listNodes(ctx.db, MAX_NODES);
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
    byAsset: await Promise.all(
      onEach(ctx).map(async (each) => ({
        ...nameAsset(assetIdOf(each.chain)),
        gates: await readGates(each, each.chain),
      })),
    ),
  };
}

/** Another node that is online and listed here. */
export interface Peer {
  readonly nodeId: string;
  readonly label: string;
  readonly baseUrl: string;
}

/** Lists the other nodes that are online, in the order of joining. */
export async function listPeers(ctx: Store): Promise<Peer[]> {
  const nodes = await listNodes(ctx.db, MAX_NODES);
  return nodes
    .filter(({ status }) => status === 'online')
    .map(({ nodeId, label, baseUrl }) => ({ nodeId, label, baseUrl }));
}
