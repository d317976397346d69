import { z } from 'zod';
import { AgentRegistrationFile } from '../agents/registration.ts';
import { endpoint } from '../endpoint.ts';
import { queryInteger } from '../page.ts';
import { AssetName } from '../payments/networks.ts';
import { Id, Timestamp, WalletAddress } from '../scalars.ts';

const Node = z.object({
  nodeId: Id,
  label: z.string(),
  baseUrl: z.string(),
  version: z.string(),
  wallet: WalletAddress,
  status: z.enum(['online', 'offline']),
  agents: z.int().min(0).describe('Number of its agents that are listed here.'),
  joinedAt: Timestamp,
  lastSeen: Timestamp,
});

/** A block of the chain that answers wait for to advance. */
export const Gate = z.object({
  name: z
    .enum(['head', 'safe', 'registry', 'transfers', 'payments'])
    .describe('`head`, `safe`: as the RPC node tells them. The others: up to where the chain was read for it.'),
  state: z.enum(['moving', 'stalled']),
  block: z.int().min(0),
  ageS: z.int().min(0).describe('Seconds since the block last rose.'),
  reason: z.string().nullable().describe('Cause and consequence of the stall, with its start; null: it moves.'),
});
export type Gate = z.infer<typeof Gate>;

/** A node's progress in reading the shared registry. */
export const ChainIndex = z.object({
  chainId: z.int(),
  registry: WalletAddress,
  state: z.enum(['syncing', 'live', 'stalled']),
  block: z.int().min(0).describe('Last block read.'),
  headBlock: z.int().min(0),
  lagBlocks: z.int().min(0),
  safeBlock: z
    .int()
    .min(0)
    .describe(
      'Blocks up to this one count as safe from reorgs: reported by the chain, or 600 deep where that is newer.',
    ),
  gates: z.array(Gate).describe('Chain data that the node waits for, each with its progress.'),
});

export type ChainIndex = z.infer<typeof ChainIndex>;

export const networkEndpoints = {
  getNetwork: endpoint({
    method: 'GET',
    path: '/network',
    summary: 'Read this node, the nodes that it knows, and its progress in the shared registry',
    tag: 'Network',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    data: z.object({
      node: z.object({
        label: z.string(),
        baseUrl: z.string(),
        version: z.string(),
        wallet: WalletAddress,
        tokenId: z.string().nullable().describe('Its own entry in the registry; null when it has none yet.'),
      }),
      index: ChainIndex,
      agents: z.object({ local: z.int().min(0), remote: z.int().min(0) }),
      nodes: z.array(Node),
      byAsset: z
        .array(AssetName.extend({ gates: z.array(Gate) }))
        .describe(
          'Chain data that payments in each asset wait for, the default one first. `index.gates` has those of the default network.',
        ),
    }),
    errors: [],
  }),
  listNetworkAgents: endpoint({
    method: 'GET',
    path: '/network/agents',
    summary: "List the registration files of this node's agents in the registry, by last change",
    tag: 'Network',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    query: z.object({
      cursor: z
        .string()
        .max(200)
        .optional()
        .describe('`cursor` of the previous answer. Default: from the first change.'),
      limit: queryInteger(1, 500).optional().describe('Default: 100.'),
    }),
    data: z.object({
      agents: z.array(AgentRegistrationFile),
      hasMore: z.boolean(),
      cursor: z.string().describe('Send it with the next request, which answers with the changes since.'),
    }),
    errors: [],
  }),
};
