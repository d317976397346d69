import { registrationUrl } from '../agents/onchain/registration-file.ts';
import { nodeFileUrl } from '../registry/write/announce-node.ts';

/** The claim of a registry entry by its address: a node, or an agent of one. */
export type EntryClaim =
  | { readonly kind: 'node'; readonly baseUrl: string; readonly agentId: null }
  | { readonly kind: 'agent'; readonly baseUrl: string; readonly agentId: string };

const MAX_CHARS = 1024;
const ADDRESS = /^(.+?)(?:\/\.well-known\/agent-network\.json|\/agents\/(agt_[0-9a-z]{26})\/registration\.json)$/;

/** null for neither. An address has one canonical spelling; others are no claim. */
export function claimOf(uri: string): EntryClaim | null {
  const url = uri.length <= MAX_CHARS ? URL.parse(uri) : null;
  if (!url || url.href !== uri || !/^https?:$/.test(url.protocol) || url.username || url.password) return null;
  const [, baseUrl, agentId] = ADDRESS.exec(uri) ?? [];
  if (baseUrl === undefined) return null;
  return agentId === undefined ? { kind: 'node', baseUrl, agentId: null } : { kind: 'agent', baseUrl, agentId };
}

export const addressOf = ({ baseUrl, agentId }: Pick<EntryClaim, 'baseUrl' | 'agentId'>): string =>
  agentId === null ? nodeFileUrl({ baseUrl }) : registrationUrl(baseUrl, agentId);
