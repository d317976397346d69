import { isIP } from 'node:net';
import { agentRegistryOf } from '@agent-network/contracts/agents/registration';
import { isObject, type Json, parseObject, scalarText } from '../../lib/json/json-object.ts';
import { GuardedFetchError, type Outbound } from '../../lib/net/guarded-fetch.ts';
import type { TextRecords } from '../../lib/net/outbound-calls.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import type { Store } from '../../store/database.ts';
import type { Agent } from '../agent.ts';
import { readA2aAgent } from './a2a-card-client.ts';
import { type EndpointProof, readWellKnown, tryChallenge } from './prove-endpoint.ts';
import type { Upstream } from './upstream.ts';
import { UpstreamFault } from './upstream-client.ts';

/** Sources of proofs of endpoints. */
export interface ProofSources extends Outbound, RegistryIndex {
  readonly textRecords: TextRecords;
}

type ProofContext = ProofSources & Store;

interface Claim {
  readonly agent: Agent;
  readonly upstream: Upstream;
  readonly identityToken: string;
}

/** Extension in which an A2A card names its agent id at this node. */
const AGENT_EXTENSION = 'urn:agent-network:agent';
/** Tokens of a well-known file that are looked at. */
const MAX_TOKENS = 5;
const MAX_FILE_BYTES = 64 * 1024;

/**
 * Looks for a proof that the endpoint belongs to the agent. Valid proofs are statements of the controller of the endpoint's address that
 * name this agent or a token of its owner; statements elsewhere prove nothing, and a shared host proves only those that it names. A user
 * waits, so independent requests run in parallel, and it takes three timeouts at most.
 */
export async function proveAgent(ctx: ProofContext, { agent, upstream, identityToken }: Claim): Promise<EndpointProof> {
  const { id } = agent;
  const { endpoint, headers, protocol } = upstream;
  const challenged =
    protocol === 'http' ? await tryChallenge(ctx, { agentId: id, endpoint, identityToken, headers }) : null;
  if (challenged?.isProven) return challenged;
  const [registrations, isInCard, isInDns] = await Promise.all([
    readWellKnown(ctx, endpoint),
    protocol === 'a2a' && isNamedInCard(ctx, upstream, id),
    isNamedInDns(ctx, endpoint, id),
  ]);
  if (registrations.some((each) => each.agentId === id)) return proven('well-known');
  if (isInCard) return proven('card');
  if (isInDns) return proven('dns');
  if (await isOwnersToken(ctx, agent, registrations)) return proven('erc8004');
  return challenged ?? { isProven: false, reason: waysOf(upstream, id) };
}

const proven = (by: 'well-known' | 'card' | 'dns' | 'erc8004'): EndpointProof => ({ isProven: true, by, tookMs: null });

function waysOf({ endpoint, protocol }: Upstream, id: string): string {
  const { origin, hostname } = new URL(endpoint);
  const ways = [
    `"registrations": [{"agentId": "${id}"}] in ${origin}/.well-known/agent-registration.json`,
    ...(protocol === 'a2a'
      ? [`the extension ${AGENT_EXTENSION} with params {"agentId": "${id}"} in its agent card`]
      : []),
    ...(isName(hostname) ? [`the TXT record "agent-network-verify=${id}" of _agent-network.${hostname}`] : []),
    'a token of its proven owner that the well-known file names and whose file lists the endpoint',
  ];
  return `No proof was found. One of these proves the endpoint: ${ways.join('; ')}.`;
}

async function isNamedInCard(ctx: ProofContext, upstream: Upstream, id: string): Promise<boolean> {
  try {
    const { extensions } = await readA2aAgent(ctx, upstream);
    return extensions.some(({ uri, params }) => uri === AGENT_EXTENSION && isObject(params) && params.agentId === id);
  } catch (error) {
    if (error instanceof UpstreamFault || error instanceof GuardedFetchError) return false;
    throw error;
  }
}

/** Addresses have no records, and names without a dot are not public. */
const isName = (hostname: string): boolean =>
  isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && hostname.replace(/\.$/, '').includes('.');

async function isNamedInDns(
  ctx: { readonly textRecords: TextRecords },
  endpoint: string,
  id: string,
): Promise<boolean> {
  const { hostname } = new URL(endpoint);
  if (!isName(hostname)) return false;
  return (await ctx.textRecords.find(`_agent-network.${hostname}`)).includes(`agent-network-verify=${id}`);
}

/**
 * True when the well-known file of the endpoint's origin names an ERC-8004 token that the agent's proven owner holds, and the token's file
 * lists the endpoint. The token's file alone proves nothing: its author may list endpoints of others.
 */
async function isOwnersToken(ctx: ProofContext, agent: Agent, registrations: readonly Json[]): Promise<boolean> {
  if (!agent.isWalletProven) return false;
  const registry = agentRegistryOf(ctx.registry.chainId, ctx.registry.address);
  const named = registrations.filter(
    ({ agentRegistry, agentId }) =>
      typeof agentRegistry === 'string' &&
      agentRegistry.toLowerCase() === registry &&
      /^\d{1,78}$/.test(scalarText(agentId)),
  );
  const ids = new Set(named.map(({ agentId }) => BigInt(scalarText(agentId))));
  const found = await Promise.all(
    [...ids].slice(0, MAX_TOKENS).map(async (tokenId) => {
      const known = await ctx.registryTokens.at(tokenId);
      return known?.isSafe === true && known.token.owner === agent.owner
        ? fileLists(ctx, known.token.uri, agent.endpoint)
        : false;
    }),
  );
  return found.includes(true);
}

async function fileLists(ctx: Outbound, uri: string, endpoint: string): Promise<boolean> {
  const file = await readFile(ctx, uri);
  return addressesIn(file ?? {}).some((address) => URL.parse(address)?.href === new URL(endpoint).href);
}

async function readFile(ctx: Outbound, uri: string): Promise<Json | undefined> {
  if (!/^\s*https?:/i.test(uri)) return fileInAddress(uri);
  try {
    const request = { url: uri.trim(), method: 'GET', headers: {}, timeoutMs: 5000, maxBytes: MAX_FILE_BYTES };
    const { status, body } = await ctx.guardedFetch.request(request);
    return status === 200 ? parseObject(body.toString('utf8')) : undefined;
  } catch (error) {
    if (error instanceof GuardedFetchError) return undefined;
    throw error;
  }
}

/** Longest text of a `data:` address; files elsewhere have a limit of their own. */
const MAX_DATA_CHARS = 90_000;

/** The registration file that a `data:` address holds, in base64 or percent-encoded; undefined: it is none that can be read. */
export function fileInAddress(uri: string): Json | undefined {
  if (uri.length > MAX_DATA_CHARS) return undefined;
  const [, parameters = '', text = ''] =
    /^\s*data:application\/json((?:;[^;,]{1,100}){0,5}),([\s\S]*)$/i.exec(uri) ?? [];
  const names = parameters.toLowerCase().split(';');
  if (names.some((name) => name.startsWith('enc='))) return undefined;
  return parseObject(names.includes('base64') ? Buffer.from(text, 'base64').toString('utf8') : percentDecoded(text));
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Addresses that a registration file lists: in `services` or, as before, `endpoints`, a list or by name, as `endpoint` or `url`. */
export const addressesIn = ({ services, endpoints }: Json): string[] =>
  [services, endpoints]
    .flatMap((listed) => (isObject(listed) || Array.isArray(listed) ? Object.values(listed) : []))
    .flatMap((each) => {
      const address = isObject(each) ? (each.endpoint ?? each.url) : each;
      return typeof address === 'string' ? [address] : [];
    });
