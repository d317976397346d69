import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { type AddressRanges, isInRanges, networkOf, normalAddress } from '../../lib/net/address-ranges.ts';

export interface ProxySettings {
  /** Proxies trusted to set `X-Forwarded-For`. */
  readonly trustedProxies: AddressRanges;
}

/** Peer address of the connection; `unknown` for a request without a socket (in tests). */
export function socketAddressOf(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** The network address of the client. */
export const addressOf = (ctx: ProxySettings, c: Context): string =>
  clientAddress(socketAddressOf(c), c.req.header('x-forwarded-for'), ctx.trustedProxies);

/** The network of the client, or its address if that has none. */
export function clientNetwork(ctx: ProxySettings, c: Context): string {
  const address = addressOf(ctx, c);
  return networkOf(address) ?? address;
}

/**
 * Returns the client's address: the peer of the connection or, as long as that is a trusted proxy, the address that the proxy reports.
 * Entries further left in `X-Forwarded-For` may be forged.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | undefined, proxies: AddressRanges): string {
  let address = socketAddress;
  for (const said of forwardedFor?.split(',').toReversed() ?? []) {
    const before = isInRanges(address, proxies) ? normalAddress(said.trim()) : null;
    if (before === null) break;
    address = before;
  }
  return address;
}
