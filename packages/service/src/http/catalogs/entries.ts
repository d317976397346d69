import type { Gateway } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { nodeName } from '@agent-network/contracts/node-name';
import { agentSlug } from '../../agents/agent-slug.ts';
import type { CatalogAgent } from '../../agents/search/list-catalog.ts';
import { isLoopbackHost } from '../../lib/net/guarded-fetch-address.ts';
import { NODE_VERSION } from '../../lib/process/node-version.ts';

/** The node that serves the catalogs. */
export interface CatalogNode {
  readonly baseUrl: string;
  readonly nodeLabel: string;
  readonly gateways: ReadonlySet<Gateway>;
}

export const MANIFEST_PATH = '/.well-known/ard.json';
/** The address of the manifest in the versions of ARD before 0.91, and in those of AI Catalog. */
export const OLD_MANIFEST_PATH = '/.well-known/ai-catalog.json';

export const MANIFEST_TYPE = 'application/ai-catalog+json';
const REGISTRY_TYPE = 'application/ai-registry+json';
const types = { a2a: 'application/a2a-agent-card+json', mcp: 'application/mcp-server-card+json' } as const;

/** Protocols in which an entry says how to call an agent. */
export type EntryKind = keyof typeof types;

/** The kinds of entries that the node has for each agent, the preferred one first; none: it serves neither protocol. */
export const kindsOf = ({ gateways }: Pick<CatalogNode, 'gateways'>): EntryKind[] =>
  (['a2a', 'mcp'] as const).filter((kind) => gateways.has(kind));

export const typeOf = (kind: EntryKind): string => types[kind];

/** Base address of a node's registry. */
export const registryUrl = (baseUrl: string): string => `${baseUrl}/ard/v1`;

/** A node as publisher in URNs: its host name. Names of this machine are all `localhost`. */
export function publisherOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return isLoopbackHost(hostname) ? 'localhost' : hostname.replace(/[^a-zA-Z0-9.-]/g, '-').toLowerCase();
}

/** True for a node with a public name. Others announce no catalog: their URNs are not unique. */
const isPublic = (baseUrl: string): boolean =>
  /\.[a-z][a-z0-9-]*$/.test(publisherOf(baseUrl)) && !/\.(localhost|local|internal)$/.test(publisherOf(baseUrl));

/** The path of the manifest for pages and robots.txt to name; null: the node has none, or does not announce it. */
export const announcedManifest = (node: Pick<CatalogNode, 'baseUrl' | 'gateways'>): string | null =>
  kindsOf(node).length > 0 && isPublic(node.baseUrl) ? MANIFEST_PATH : null;

/** The header of the first page by which programs find the manifest, if it is announced. */
export function catalogLink(node: Pick<CatalogNode, 'baseUrl' | 'gateways'>): { link?: string } {
  const path = announcedManifest(node);
  return path === null ? {} : { link: `<${path}>; rel="ard"` };
}

const urn = (baseUrl: string, ...parts: readonly string[]): string =>
  ['urn:air', publisherOf(baseUrl), ...parts].join(':');

/** AI Catalog says `mediaType`, ARD `type`: each entry has both. */
const typed = (type: string) => ({ type, mediaType: type });

/** Version of an agent as a tool: another one when its types are. */
export const agentVersion = ({ typesId }: Pick<CatalogAgent, 'typesId'>): string =>
  typesId === null ? '1.0.0' : `1.0.0+${typesId.replace(/[^0-9a-zA-Z]/g, '-')}`;

/** Name of the MCP server of an agent, or of the node: its host in reverse, then the last part of its address. */
export const serverName = (baseUrl: string, last: string): string =>
  `${publisherOf(baseUrl).split('.').reverse().join('.')}/${last}`;

const remote = (url: string) => [{ type: 'streamable-http', url }];

const nodeServer = ({ baseUrl }: CatalogNode) => ({
  name: serverName(baseUrl, 'agent-network'),
  title: 'Agent Network',
  description: 'Find software agents, pay them in USDC for a task, and read their results.',
  version: NODE_VERSION,
  remotes: remote(`${baseUrl}/mcp`),
});

const MAX_SERVER_DESCRIPTION = 100;
const MAX_DESCRIPTION = 500;

/** The first characters of a text, at most `most`, with a sign where it was cut. */
function within(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}

const descriptionOf = ({ description, capabilities }: CatalogAgent, most: number): string =>
  within(description.trim() || `An agent for ${capabilities.join(', ')}.`, most);

/** A server.json of the MCP registry: the node's own server, or that of an agent. */
export const serverOf = (node: CatalogNode, agent: CatalogAgent | null) =>
  agent === null
    ? nodeServer(node)
    : {
        name: serverName(node.baseUrl, agentSlug(agent)),
        title: within(agent.name, MAX_SERVER_DESCRIPTION),
        description: descriptionOf(agent, MAX_SERVER_DESCRIPTION),
        version: agentVersion(agent),
        remotes: remote(`${node.baseUrl}/agents/${agent.id}/mcp`),
      };

/** Proof of an agent's home: its entry in the ERC-8004 registry, through the file that its token points to. */
function trustOf(home: string, { id, isProven, tokenId }: CatalogAgent) {
  if (!isProven || tokenId === null) return {};
  const page = `${home}/agents/${id}`;
  const attestation = { type: 'erc8004', uri: `${page}/registration.json`, mediaType: 'application/json' };
  return {
    trustManifest: {
      identity: page,
      identityType: home.startsWith('https:') ? 'https' : 'other',
      attestations: [attestation],
    },
  };
}

/**
 * The entry of an agent for one protocol. Its URN names its home node, so that every node has the same one; it is called through the node
 * that shows the entry.
 */
export function agentEntry(node: CatalogNode, agent: CatalogAgent, kind: EntryKind) {
  const home = agent.homeUrl ?? node.baseUrl;
  const { tags = [] } = agent.metadata;
  return {
    identifier: urn(home, 'agents', agent.id, ...(kind === 'mcp' ? ['mcp'] : [])),
    displayName: agent.name,
    ...typed(types[kind]),
    ...(kind === 'mcp'
      ? { data: serverOf(node, agent) }
      : { url: `${node.baseUrl}/a2a/${agent.id}/.well-known/agent-card.json` }),
    description: descriptionOf(agent, MAX_DESCRIPTION),
    capabilities: agent.capabilities,
    ...(tags.length > 0 ? { tags } : {}),
    ...(agent.exampleQuestions.length > 1 ? { representativeQueries: agent.exampleQuestions } : {}),
    version: agentVersion(agent),
    updatedAt: agent.updatedAt.toISOString(),
    metadata: {
      price: formatUsdc(agent.perRequestMicro),
      currency: 'USDC',
      reputation: agent.reputation,
      online: agent.status === 'online',
      // The protocol of an agent of another node is known to that node.
      ...(agent.homeUrl === null ? { protocol: agent.protocol } : {}),
    },
    ...trustOf(home, agent),
  };
}

const queries = [
  'find an agent that translates a document',
  'which agents summarize a web page for less than 0.10 USDC',
];

/** The entry of a node's registry. */
const registryEntry = (baseUrl: string, label: string) => ({
  identifier: urn(baseUrl, 'registry', 'agents'),
  displayName: nodeName(label),
  ...typed(REGISTRY_TYPE),
  url: registryUrl(baseUrl),
});

/** Entries of the node itself: its registry, and its MCP server with the tools for all agents. */
export const nodeEntries = (node: CatalogNode) => [
  {
    ...registryEntry(node.baseUrl, node.nodeLabel),
    description: 'Searches the agents of this network by text, capability and publisher.',
    representativeQueries: queries,
  },
  ...(node.gateways.has('mcp')
    ? [
        {
          identifier: urn(node.baseUrl, 'node', 'mcp'),
          displayName: `${nodeName(node.nodeLabel)}, MCP server`,
          ...typed(types.mcp),
          data: nodeServer(node),
          description: nodeServer(node).description,
          representativeQueries: queries,
        },
      ]
    : []),
];

/** The entry of a file with further agents, counted from 1. */
export const pageEntry = ({ baseUrl }: CatalogNode, number: number) => ({
  identifier: urn(baseUrl, 'catalog', String(number)),
  displayName: `Agents, part ${number}`,
  ...typed(MANIFEST_TYPE),
  url: `${registryUrl(baseUrl)}/catalog/${number}.json`,
});

/** A catalog. Its root has the fields that every version of ARD takes, and no others. */
export const manifestOf = (node: CatalogNode, entries: readonly object[]) => ({
  specVersion: '1.0',
  host: { displayName: nodeName(node.nodeLabel), identifier: publisherOf(node.baseUrl) },
  entries,
});

/** Another node as a registry that clients may ask themselves. */
export const referralOf = ({ baseUrl, label }: { readonly baseUrl: string; readonly label: string }) => {
  const { mediaType: _, ...referral } = registryEntry(baseUrl, label);
  return referral;
};
