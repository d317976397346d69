import { isObject, type Json } from '../../lib/json/json-object.ts';
import { scalarText } from '../../lib/json/json-text.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { type Upstream, urlBelow, withoutEndSlashes } from './upstream.ts';
import { readObject, UpstreamFault } from './upstream-client.ts';

const CARD_PATH = '/.well-known/agent-card.json';

/** An A2A agent as its card describes it. */
export interface A2aAgent {
  /** Address of its JSON-RPC interface. */
  readonly url: string;
  readonly version: '1.0' | '0.3';
  readonly isStreaming: boolean;
  /** Extensions of its card. */
  readonly extensions: readonly Json[];
}

/** Address of the card: the endpoint itself, or below it. */
const cardUrlOf = (endpoint: string): string =>
  new URL(endpoint).pathname.endsWith('.json') ? endpoint : urlBelow(endpoint, CARD_PATH);

/**
 * Reads the card of an endpoint. Its interface has to lie below the card's own base: a card speaks for no other address. Throws
 * UpstreamFault.
 */
export async function readA2aAgent(ctx: HasGuardedFetch, upstream: Upstream): Promise<A2aAgent> {
  const cardUrl = cardUrlOf(upstream.endpoint);
  const card = await readObject(ctx, upstream, cardUrl, 'The agent card');
  const found = interfaceOf(card);
  if (!found) throw new UpstreamFault('The agent card names no JSON-RPC interface of A2A 1.0 or 0.3.');
  const url = URL.parse(found.url, cardUrl);
  const base = new URL(cardUrl.replace(/(\/\.well-known)?\/[^/?]+\.json([?#].*)?$/, '/'));
  const isBelow = url?.origin === base.origin && `${withoutEndSlashes(url.pathname)}/`.startsWith(base.pathname);
  if (!url || !isBelow) throw new UpstreamFault('The agent card names an interface that is not below its own address.');
  const capabilities = isObject(card.capabilities) ? card.capabilities : {};
  const extensions = Array.isArray(capabilities.extensions) ? capabilities.extensions.filter(isObject) : [];
  return { url: url.href, version: found.version, isStreaming: capabilities.streaming === true, extensions };
}

/** The newest JSON-RPC interface of a card of 1.0 or 0.3. */
function interfaceOf(card: Json): { url: string; version: A2aAgent['version'] } | null {
  const listed = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces.filter(isObject) : [];
  const rpc = listed.filter(({ protocolBinding, url }) => protocolBinding === 'JSONRPC' && typeof url === 'string');
  const at = (prefix: string) => rpc.find(({ protocolVersion }) => scalarText(protocolVersion).startsWith(prefix))?.url;
  const newest = at('1.');
  if (newest) return { url: String(newest), version: '1.0' };
  const older = at('0.3') ?? interfaceOf03(card);
  return older ? { url: String(older), version: '0.3' } : null;
}

function interfaceOf03(card: Json): string | null {
  const more = Array.isArray(card.additionalInterfaces) ? card.additionalInterfaces.filter(isObject) : [];
  const main = { url: card.url, transport: card.preferredTransport ?? 'JSONRPC' };
  const rpc = [main, ...more].find(({ url, transport }) => transport === 'JSONRPC' && typeof url === 'string');
  return rpc ? String(rpc.url) : null;
}
