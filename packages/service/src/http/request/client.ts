import type { Context } from 'hono';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { isInRanges } from '../../lib/net/address-ranges.ts';
import { isLoopback, isLoopbackHost } from '../../lib/net/guarded-fetch-address.ts';
import { addressOf, type ProxySettings, socketAddressOf } from './remote-address.ts';
import { askedBy, isSameOrigin } from './same-origin.ts';

/** The client, as far as the connection and the request identify it. */
export interface Client {
  /** The network address; `unknown` without a socket. */
  readonly address: string;
  /** The User-Agent: plain text of at most 200 characters. */
  readonly userAgent: string | null;
  /** True if the client is on the node's machine and used a loopback host name. */
  readonly isLocal: boolean;
  /** True when a browser sent the request for a page of another site. Programs do not send their origin. */
  readonly isFromOtherSite: boolean;
}

const MAX_CHARS = 200;

/** Headers that proxies and tunnels add. With any of these the peer of the connection is not the client. */
const FORWARDING =
  /^(forwarded|via|x-forwarded(-.*)?|x-original-.*|x-envoy-.*|x-proxy-.*|x-real-ip|x-remote-.*|cdn-loop|(.*-)?(client|connecting|true)-ip)$/;

/** Computed on demand: few calls need it. */
export const clientOf = (ctx: ProxySettings & NodeIdentity, c: Context): Client => ({
  get address() {
    return addressOf(ctx, c);
  },
  get userAgent() {
    return plain(c.req.header('user-agent'));
  },
  get isLocal() {
    return isLocalClient(ctx, c);
  },
  get isFromOtherSite() {
    const asked = askedBy(c);
    return (asked.origin ?? asked.fetchSite) !== undefined && !isSameOrigin(ctx.baseUrl, asked);
  },
});

/**
 * True for a client on this machine. False behind any proxy, trusted or only announcing that it forwards, and for a page of another site
 * with a name that resolves to loopback (DNS rebinding).
 */
export function isLocalClient(ctx: ProxySettings, c: Context): boolean {
  const address = socketAddressOf(c);
  const host = URL.parse(`http://${c.req.header('host') ?? ''}`)?.hostname ?? '';
  const isForwarded = [...c.req.raw.headers.keys()].some((name) => FORWARDING.test(name));
  return !isForwarded && isLoopback(address) && !isInRanges(address, ctx.trustedProxies) && isLoopbackHost(host);
}

const plain = (text: string | undefined): string | null =>
  text
    ?.replace(/[^\x20-\x7e]/g, '')
    .slice(0, MAX_CHARS)
    .trim() || null;
