import { isObject, type Json } from '../../lib/json/json-object.ts';
import { GuardedFetchError, type Outbound } from '../../lib/net/guarded-fetch.ts';
import { type A2aBinding, type A2aInterface, type A2aVersion, interfacesOf, isCard, shownValue } from './a2a-card.ts';
import { readWellKnown } from './prove-endpoint.ts';
import { type Upstream, urlBelow, withoutEndSlashes } from './upstream.ts';
import { faultOf, readObject, UpstreamFault } from './upstream-client.ts';

/** Paths of a server's card below the endpoint; servers of version 0.2 have the second. */
const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const;

/** An A2A agent as its card describes it. */
export interface A2aAgent {
  /** Address of its interface. */
  readonly url: string;
  readonly binding: A2aBinding;
  readonly version: A2aVersion;
  /** Named in every message; null: the interface has none. */
  readonly tenant: string | null;
  readonly isStreaming: boolean;
  /** Extensions of its card. */
  readonly extensions: readonly Json[];
}

/** Addresses at which the card may be: the endpoint if it is one, else below it, else at the endpoint after all. */
const cardUrlsOf = (endpoint: string): string[] =>
  new URL(endpoint).pathname.endsWith('.json')
    ? [endpoint]
    : [...CARD_PATHS.map((path) => urlBelow(endpoint, path)), endpoint];

/**
 * Reads the card of an endpoint, and finds the best interface that may be called: below the card's own base, as a card speaks for no other
 * address, or elsewhere on its origin if the origin itself names the agent. Throws UpstreamFault.
 */
export async function readA2aAgent(ctx: Outbound, upstream: Upstream): Promise<A2aAgent> {
  const { cardUrl, card } = await findCard(ctx, upstream);
  const { found, faults } = interfacesOf(card);
  const more: string[] = [];
  let isNamed: Promise<boolean> | null = null;
  // Asked once: a card may list many.
  const isNamedOnce = () => (isNamed ??= isNamedByOrigin(ctx, upstream));
  for (const each of found) {
    const placed = placeOf(each, cardUrl);
    if (placed.place === 'elsewhere') more.push(placed.fault);
    else if (placed.place === 'below' || (await isNamedOnce())) {
      const capabilities = isObject(card.capabilities) ? card.capabilities : {};
      const extensions = Array.isArray(capabilities.extensions) ? capabilities.extensions.filter(isObject) : [];
      const { binding, version, tenant } = each;
      return { url: placed.href, binding, version, tenant, isStreaming: capabilities.streaming === true, extensions };
    } else more.push(aboveFault(each, cardUrl, upstream));
  }
  const said = [...more, ...faults].slice(0, 3).join(' ');
  throw new UpstreamFault(`The agent card has no interface that this node can call. ${said}`.trimEnd());
}

/** Throws UpstreamFault, of the answer that came closest to a card. */
async function findCard(ctx: Outbound, upstream: Upstream): Promise<{ cardUrl: string; card: Json }> {
  let first: UpstreamFault | null = null;
  let odd: UpstreamFault | null = null;
  for (const cardUrl of cardUrlsOf(upstream.endpoint)) {
    const read = await readObject(ctx, upstream, cardUrl, 'The agent card').catch(passedOver);
    if (read instanceof UpstreamFault) first ??= read;
    else if (isCard(read)) return { cardUrl, card: read };
    else odd ??= notCard(cardUrl);
  }
  throw odd ?? first;
}

const notCard = (url: string) =>
  new UpstreamFault(
    `${url} does not return an agent card: the answer has neither "supportedInterfaces" nor "url". Serve a card there, or register the card's own address.`,
  );

/** A certain fault of one place, after which others are tried. Throws errors that other places share. */
function passedOver(error: unknown): UpstreamFault {
  const isRedirect = error instanceof GuardedFetchError && error.kind === 'redirect';
  const fault = error instanceof UpstreamFault || isRedirect ? faultOf(error) : null;
  if (!fault?.isCertain || fault.detail.kind === 'credentials') throw error;
  return fault;
}

type Placed =
  | { readonly place: 'below' | 'above'; readonly href: string }
  | { readonly place: 'elsewhere'; readonly fault: string };

/** Names by which a server in a container knows itself. */
const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]']);

/** Location of an interface relative to its card. A loopback address in a public card is taken to mean the card's own host. */
function placeOf({ url: given, field }: A2aInterface, cardUrl: string): Placed {
  const card = new URL(cardUrl);
  const url = URL.parse(given, cardUrl);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (!url || !isWeb)
    return { place: 'elsewhere', fault: `${field} is ${shownValue(given)}: it must be an http or https address.` };
  const isOwnName = ownNames.has(url.hostname) && !ownNames.has(card.hostname);
  const href = isOwnName ? card.origin + url.pathname + url.search : url.href;
  const { origin, pathname } = new URL(href);
  if (origin !== card.origin)
    return {
      place: 'elsewhere',
      fault: `${field} is ${shownValue(given)}, which is not below the card's own address: register the endpoint at ${origin}, or name an interface at ${card.origin}.`,
    };
  const base = `${withoutEndSlashes(new URL(cardUrl.replace(/(\/\.well-known)?\/[^/?]+\.json([?#].*)?$/, '/')).pathname)}/`;
  const path = withoutEndSlashes(pathname);
  if (`${path}/`.startsWith(base)) return { place: 'below', href };
  if (base.startsWith(path.slice(0, path.lastIndexOf('/') + 1))) return { place: 'above', href };
  const shown = `${field} is ${shownValue(given)}, which is not below the card's own address ${cardUrl}`;
  return { place: 'elsewhere', fault: `${shown}: name one below it.` };
}

/** True when the controller of the whole origin names the agent, so that the card may refer to addresses outside its own path. */
async function isNamedByOrigin(ctx: Outbound, { endpoint, agentId }: Upstream): Promise<boolean> {
  return (await readWellKnown(ctx, endpoint)).some((each) => each.agentId === agentId);
}

const aboveFault = ({ url, field }: A2aInterface, cardUrl: string, { agentId, endpoint }: Upstream): string =>
  `${field} is ${shownValue(url)}, which is not below the card's own address ${cardUrl}: name one below it, or list {"agentId": "${agentId}"} in the registrations of ${new URL(endpoint).origin}/.well-known/agent-registration.json.`;
